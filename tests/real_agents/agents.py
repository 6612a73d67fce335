"""The agents by the names that `treblehook install` takes: what npm installs, and how each is run headless against one model.

`$MODEL` stands for the model server's URL, `$WORKSPACE` for the folder that the agent works in, `$PROMPT` for the user's words.
"""

from dataclasses import dataclass, field

WINDOW, LONGEST = 100_000, 4_000
"""Tokens that the model is said to read and to write at most."""


@dataclass(frozen=True)
class Agent:
    """`packages` are in package.json, the agent's own first. `node` is the oldest major version of Node that runs it, 0 where it is no
    JavaScript. `files` are under HOME: an object is written as JSON, text as it is."""

    packages: tuple[str, ...]
    program: str
    arguments: tuple[str, ...]
    environ: dict[str, str]
    node: int = 0
    files: dict[str, object] = field(default_factory=dict)


_CODEX_CONFIG = """\
model = "gpt-5.5"
model_provider = "scripted"
approval_policy = "never"
check_for_update_on_startup = false

[model_providers.scripted]
name = "scripted"
base_url = "$MODEL/v1"
wire_api = "responses"
env_key = "SCRIPTED_KEY"
request_max_retries = 0
stream_max_retries = 0

[analytics]
enabled = false

[features]
plugins = false

[projects."$WORKSPACE"]
trust_level = "trusted"
"""


def _gemini_like(auth: str) -> dict[str, object]:
    return {
        "security": {"auth": {"selectedType": auth}, "folderTrust": {"enabled": False}},
        "general": {"enableAutoUpdate": False},
        "privacy": {"usageStatisticsEnabled": False},
    }


AGENTS = {
    "claude-code": Agent(
        packages=("@anthropic-ai/claude-code",),
        program="claude",
        # The prompt comes first: --allowedTools takes every word after it.
        arguments=("-p", "$PROMPT", "--output-format", "json", "--allowedTools", "Bash,Read,Write,Edit"),
        environ={
            "ANTHROPIC_BASE_URL": "$MODEL",
            "ANTHROPIC_API_KEY": "sk-ant-dummy",
            "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
            "DISABLE_AUTOUPDATER": "1",
            "DISABLE_ERROR_REPORTING": "1",
            "DISABLE_TELEMETRY": "1",
            "IS_SANDBOX": "1",
        },
    ),
    "codex": Agent(
        packages=("@openai/codex",),
        program="codex",
        arguments=("exec", "--skip-git-repo-check", "--json", "-s", "danger-full-access", "$PROMPT"),
        environ={"SCRIPTED_KEY": "dummy"},
        node=16,
        files={".codex/config.toml": _CODEX_CONFIG},
    ),
    "gemini": Agent(
        packages=("@google/gemini-cli",),
        program="gemini",
        arguments=("-p", "$PROMPT", "--yolo", "--output-format", "json"),
        environ={"GEMINI_API_KEY": "dummy", "GOOGLE_GEMINI_BASE_URL": "$MODEL", "GEMINI_CLI_TRUST_WORKSPACE": "true"},
        node=20,
        files={".gemini/settings.json": _gemini_like("gemini-api-key")},
    ),
    "qwen": Agent(
        # It needs Node 22, and brings none.
        packages=("@qwen-code/qwen-code", "node"),
        program="qwen",
        arguments=("-p", "$PROMPT", "--yolo"),
        environ={"OPENAI_API_KEY": "dummy", "OPENAI_BASE_URL": "$MODEL/v1", "OPENAI_MODEL": "scripted"},
        node=22,
        files={".qwen/settings.json": _gemini_like("openai")},
    ),
    "copilot": Agent(
        packages=("@github/copilot",),
        program="copilot",
        arguments=("-p", "$PROMPT", "--allow-all-tools"),
        environ={
            "COPILOT_OFFLINE": "true",
            "COPILOT_PROVIDER_BASE_URL": "$MODEL/v1",
            "COPILOT_PROVIDER_API_KEY": "dummy",
            "COPILOT_MODEL": "scripted",
            "COPILOT_AUTO_UPDATE": "false",
        },
        node=20,
        files={".copilot/config.json": {"trusted_folders": ["$WORKSPACE"]}},
    ),
    "opencode": Agent(
        packages=("opencode-ai",),
        program="opencode",
        arguments=("run", "--format", "json", "$PROMPT"),
        environ={
            "OPENCODE_DISABLE_AUTOUPDATE": "1",
            "OPENCODE_DISABLE_LSP_DOWNLOAD": "1",
            "OPENCODE_DISABLE_MODELS_FETCH": "1",
            # It fetches types for plugins at its start: from nowhere, and it does not try again, it takes half the time.
            "npm_config_fetch_retries": "0",
            "npm_config_registry": "http://127.0.0.1:9/",
        },
        files={
            ".config/opencode/opencode.json": {
                "model": "scripted/scripted",
                "small_model": "scripted/scripted",
                "autoupdate": False,
                "share": "disabled",
                "provider": {
                    "scripted": {
                        "npm": "@ai-sdk/openai-compatible",
                        "name": "scripted",
                        "options": {"baseURL": "$MODEL/v1", "apiKey": "dummy"},
                        "models": {"scripted": {"name": "scripted", "tool_call": True, "limit": {"context": WINDOW, "output": LONGEST}}},
                    }
                },
            }
        },
    ),
    "pi": Agent(
        packages=("@mariozechner/pi-coding-agent",),
        program="pi",
        arguments=("--provider", "scripted", "--model", "scripted", "--mode", "json", "-p", "$PROMPT"),
        environ={"PI_OFFLINE": "1", "PI_SKIP_VERSION_CHECK": "1"},
        node=20,
        files={
            ".pi/agent/models.json": {
                "providers": {
                    "scripted": {"baseUrl": "$MODEL", "api": "anthropic-messages", "apiKey": "dummy", "models": [{"id": "scripted"}]}
                }
            }
        },
    ),
}
