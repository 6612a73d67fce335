-- cru.plugin.config: the settings of the plugin that looks, as a table and through `get`.
local settings, get = ...

return {
  config = setmetatable({ get = get }, {
    __index = function(_, key)
      return settings()[key]
    end,
    __newindex = function()
      error("cru.plugin.config is read-only: the settings are in config.toml, [plugins.NAME]", 2)
    end,
    __pairs = function()
      return next, settings(), nil
    end,
  }),
}
