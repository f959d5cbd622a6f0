package toolset

import (
	"fmt"
	"regexp"
	"strings"
	"sync"

	"adze/internal/plural"
	"adze/internal/proc"
	"adze/tool"
)

// endsInCD finds a command line whose last command is a cd: whoever writes that expects it to last.
var endsInCD = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(^|[;&|\n(]\s*)(cd|pushd)(\s+[^;&|\n()]*)?\s*;?\s*$`)
})

// notes are what the model should know beside the output.
func (x *bashCall) notes(r proc.Result) (notes []string) {
	if x.plain {
		notes = append(notes, "(bash is not installed; sh ran it)")
	}
	if x.guarded {
		notes = append(notes, "(a rule allowed this, so git ran without the hooks and programs that this repository names)")
	}
	if r.Ended > 0 && r.Killed == proc.ByItself && x.declared == "" {
		notes = append(notes, fmt.Sprintf("(ended %s that it left running; use background: true to keep one)", plural.Of(r.Ended, "process")))
	}
	if r.Sandbox != "" && r.Code != 0 {
		notes = append(notes, "(it ran in a sandbox: no network but hosts that are allowed, through the proxy of HTTPS_PROXY; everything outside the workspace and /tmp is read only, and so are .git hooks and config and the folders of editors in it)")
	}
	notes = append(notes, refusedHosts(r)...)
	if why := barred(r); x.left != "" {
		notes = append(notes, x.left)
	} else if why != "" {
		notes = append(notes, "("+why+")")
	}
	notes = append(notes, putAside(r)...)
	if r.Survivors > 0 {
		notes = append(notes, fmt.Sprintf("(%s could not be ended, probably of another user)", plural.Of(r.Survivors, "process")))
	}
	if x.declared == "" && endsInCD().MatchString(x.in.Command) {
		notes = append(notes, "(cd does not last beyond this call; use workdir)")
	}
	return notes
}

// ofJob are the notes about a job that has ended: nobody is asked to run it outside, because it was started to go on.
func ofJob(r proc.Result) []string {
	notes := refusedHosts(r)
	if why := barred(r); why != "" {
		notes = append(notes, "("+why+")")
	}
	return append(notes, putAside(r)...)
}

func refusedHosts(r proc.Result) []string {
	if len(r.Refused) == 0 {
		return nil
	}
	return []string{"(the sandbox did not let it reach " + named(r.Refused, ", ") + ")"}
}

func putAside(r proc.Result) (notes []string) {
	for _, told := range r.Told {
		notes = append(notes, "(the sandbox put aside what this command left: "+told+"; tell the user)")
	}
	return notes
}

// noOutput stands where a command wrote nothing.
const noOutput = "(no output)"

// exitLine begins the last line of the output of a command that succeeded.
const exitLine = "exit code 0 after "

// Written is what a command wrote, of the outcome of a bash call that succeeded: its output without what tells how it ended.
func Written(o tool.Outcome) string {
	text := o.Output
	if at := strings.LastIndexByte(text, '\n'); at >= 0 && strings.HasPrefix(text[at+1:], exitLine) {
		text = text[:at]
	}
	return strings.TrimSuffix(text, noOutput)
}
