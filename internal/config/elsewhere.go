package config

import (
	"slices"
	"strings"
)

// elsewhere is what does here what a name of another assistant's configuration does there.
func elsewhere(name string) string {
	for hint, names := range map[string]string{
		`servers belong in "mcp": {"servers": {…}}; adze mcp add writes one`:                            "mcpServers mcp_servers",
		`rules are lists, "allow", "ask" and "deny", of such as "execute(go test **)"`:                  "allowedTools disallowedTools excludeTools coreTools allowed_tools",
		`the mode is "permission_mode": ask, auto or plan`:                                              "approval_policy approvalMode approval_mode defaultMode yolo autoAccept",
		`"sandbox" is auto, required or off`:                                                            "sandbox_mode sandbox_workspace_write",
		`hooks belong in hooks.json beside this file; adze help hooks`:                                  "hooks notify",
		`agents are files, agents/NAME.md beside this file`:                                             "agent agents subagents profiles",
		`commands are files, commands/NAME.md beside this file`:                                         "command commands",
		`instructions are a file, AGENTS.md beside this file, or in a project`:                          "instructions contextFileName context_paths systemPrompt",
		`that is title_model, and task_model is for subagents`:                                          "small_model smallModel small",
		`that is interface.theme`:                                                                       "theme tui",
		`that is interface.keys`:                                                                        "vimMode vim_mode editorMode",
		`that is keys, by the action; adze help keys lists them`:                                        "keybinds keybindings keyBindings",
		`that is language_servers`:                                                                      "lsp",
		`that is formatters`:                                                                            "formatter",
		`that is providers.NAME.effort`:                                                                 "model_reasoning_effort reasoning_effort effortLevel",
		`that is providers, by name, with base_url and key_env`:                                         "model_providers customProviders baseURL base_url",
		`variables come from the shell; "environment" names those that commands may see`:                "env shell_environment_policy",
		`the prices and limits of a model stand in models, by provider/name; a temperature is not sent`: "temperature max_tokens maxTokens model_context_window",
		`adze asks nobody for a newer version, and counts nobody`:                                       "autoupdate autoUpdates autoUpdate telemetry analytics usageStatisticsEnabled",
	} {
		if slices.Contains(strings.Fields(names), name) {
			return hint
		}
	}
	return ""
}

// gone is what serves instead of a setting of a release before. It is empty for any other name.
func gone(name string) string {
	if strings.HasPrefix(name, "providers.") && strings.HasSuffix(name, ".keep_alive") {
		return "a local model stays loaded for 30 minutes; its server unloads it earlier"
	}
	for instead, names := range map[string]string{
		"words of the prompt choose the tools (bm25), and no server or model is asked": "tools.scorer tools.embeddings tools.model",
		"there is no index any more, and a search reads the files":                     "search.index",
		"clones leave no mirrors, and servers keep what is over for 30 days":           "batch",
		"the model pages through what is longer":                                       "output limits.glob limits.grep limits.list",
		"a command may name up to 10m, or limits.bash_timeout where that is longer":    "limits.bash_max_timeout",
		"the file of an agent has steps, and four work beside each other":              "limits.task_steps limits.tasks",
		"the sandbox keeps the caches of a folder for 30 days after their last use":    "limits.sandbox_caches_mb",
		`"undo": {"off": true} runs what cannot be kept`:                               "undo.on_failure",
		"files up to 64 MiB are kept":                                                  "undo.file_mb",
		"sessions.keep has days and count":                                             "sessions.keep.total_mb",
		"a server stops after five minutes without a call":                             "mcp.idle",
	} {
		if slices.Contains(strings.Fields(names), name) {
			return instead
		}
	}
	return ""
}
