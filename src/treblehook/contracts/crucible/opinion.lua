-- Calls a permission hook. Of a table that it returns only what is an opinion is passed on, whatever else is in it.
return function(hook, request)
  local answer = hook(request)
  if type(answer) ~= "table" then return answer end
  return { allow = rawget(answer, "allow"), deny = rawget(answer, "deny"), reason = rawget(answer, "reason") }
end
