package command

import "github.com/spf13/cobra"

// hooksHelp is adze help hooks: what a file of hooks holds, what their programs read and answer,
// and what becomes of it.
func hooksHelp() *cobra.Command {
	return &cobra.Command{Use: "hooks", Short: "How programs of your own are told what happens, and have a say",
		Long: `A hook is a program that adze starts at a moment of a session. It reads one JSON object and may answer with one.

    {"hooks": {
      "before_tool": [{"tools": "bash", "command": ["/home/ann/bin/check"], "timeout": "5s"}],
      "after_tool":  [{"tools": "edit|write", "command": "gofmt -l . | grep . >&2 && exit 2; exit 0"}],
      "stop":        [{"command": "go vet ./... >&2 || exit 2"}]
    }}

Files, all of which count: hooks.json in the folder of adze's configuration (yours; nobody else may be able to write it), beside
the configuration of the machine's owner (/etc/adze/hooks.json), and .adze/hooks.json of a project. A project's hooks run only
after you allowed each (adze trust list, or /trust), as do those that it has for other assistants: .claude/settings.json,
.claude/settings.local.json, .codex/hooks.json, .gemini/settings.json, translated; adze trust show tells what each is here.

"tools" is a list of names (a|b) or an RE2 expression found anywhere in one; without it all are meant. "command" as words is a
program, as a text it is for sh; it runs in the folder that adze works in, so name your own by its whole path: what stands there
("make", "./x") is each project's. "timeout" is at most 10s; the hooks of one moment have 30s together.

    moment          it reads, beside event, session, agent, cwd and mode       it may
    session_start   resumed                                                    add context
    prompt          prompt                                                     deny, add context
    before_tool     call, tool, arguments                                      deny, ask, change arguments, add context
    after_tool      the same, status, output                                   add context
    before_compact  manual                                                     deny, where you asked for it
    stop            text, held                                                 deny: the turn goes on, at most 3 times
    notification    kind (waiting, turn_end), message                          -

It answers {"decision": "allow" | "deny" | "ask", "reason": "…", "arguments": {…}, "context": "…", "notice": "…"}, each of which may
be missing, or with nothing. Exit code 2 denies, for the reason on standard error. "allow" is no objection: it answers no question,
and no hook lifts a rule. Changed arguments are all of them; they are checked and judged as a call of their own. Context (4 KiB)
joins the conversation as a note.

What fails (another exit code, a signal, no answer in time, more than 64 KiB, anything but such an object) has one outcome: before a
call you are asked, in every mode, and where nobody can be asked the call is denied; elsewhere it is told. Hooks fire for
subagents, too. They run as commands do: the same sandbox, environment without secrets, no terminal, nothing left behind. They find
ADZE_HOOK=1, with which an adze runs no hooks, and CLAUDE_PROJECT_DIR, the folder. The log keeps each run: adze audit show.`}
}
