package config

import (
	"slices"
	"strings"
)

// elsewhere returns the setting that corresponds to one in another assistant's configuration.
func elsewhere(name string) string {
	for hint, names := range map[string]string{
		`servers belong in "mcp": {"servers": {…}}; adze mcp add writes one`:           "mcpServers mcp_servers",
		`rules are lists, "allow", "ask" and "deny", of such as "execute(go test **)"`: "allowedTools disallowedTools excludeTools coreTools allowed_tools",
		`the mode is "permission_mode": ask, auto or plan`:                             "approval_policy approvalMode approval_mode defaultMode yolo autoAccept",
		`"sandbox" is on or off`: "sandbox_mode sandbox_workspace_write",
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

// gone returns the replacement for a setting from an earlier release, or "".
func gone(name string) string {
	if parts := strings.Split(name, "."); len(parts) > 2 {
		name = parts[0] + ".NAME." + parts[len(parts)-1]
	}
	for instead, names := range map[string]string{
		"words of the prompt choose the tools (bm25), and no server or model is asked":                   "tools.scorer tools.embeddings tools.model",
		"there is no index any more, and a search reads the files":                                       "search.index",
		"clones leave no mirrors, and servers keep what is over for 30 days":                             "batch",
		"the model pages through what is longer":                                                         "output",
		"a local model stays loaded for 30 minutes; its server unloads it earlier":                       "providers.NAME.keep_alive",
		"no server may ask the model; its tools return what the model is to look at":                     "mcp.NAME.sampling",
		"a server is told of the workspace unless its arguments name folders":                            "mcp.NAME.roots",
		"a server of your own works on the whole workspace":                                              "language_servers.NAME.markers",
		"calls written as text are recovered at each server but those of known companies":                "providers.NAME.text_calls",
		"rules mend arguments, and the model is told of what they cannot mend":                           "repair_model",
		"work trees are made beside the main checkout":                                                   "worktree.folder",
		"a command goes on as a job after 2m, and may name up to 10m; four tasks work beside each other": "limits",
		`"undo": {"off": true} runs what cannot be kept`:                                                 "undo.on_failure",
		"files up to 64 MiB are kept, 2 GiB of a folder; adze undo --forget drops a path":                "undo.file_mb undo.total_mb",
		"sessions.keep.days says how long they stay":                                                     "sessions.keep.total_mb",
		"a server stops after five minutes without a call":                                               "mcp.idle",
	} {
		if slices.Contains(strings.Fields(names), name) {
			return instead
		}
	}
	return ""
}
