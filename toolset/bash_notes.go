package toolset

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"

	"adze/internal/sandbox/proc"
	"adze/internal/text/plural"
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
		notes = append(notes, fmt.Sprintf("(ended %s that it left running%s)", plural.Of(r.Ended, "process"), x.unlessBrief("; use background: true to keep one")))
	}
	switch {
	case r.Code == 0:
	case r.Sandbox == "degraded (landlock)":
		notes = append(notes, "(it ran in a sandbox in which commands only read: it could write its temporary files and caches and nothing in the workspace or elsewhere, and had no network, not even loopback)")
	case r.Sandbox != "":
		notes = append(notes, "(it ran in a sandbox: no network but hosts that are allowed, through the proxy of HTTPS_PROXY; everything outside the workspace and /tmp is read only, of the home only toolchains are there, and read only are .git hooks and config and the folders of editors in it)")
	}
	if r.Sandbox != "" && r.Code != 0 && strings.Contains(r.Output.Head+r.Output.Tail, otherLink) {
		notes = append(notes, "(in the sandbox a hard link to a file that was there before has another inode number than that file showed; use git clone --no-hardlinks)")
	}
	if strings.HasPrefix(r.Sandbox, "full (") && r.Err() != nil && slices.ContainsFunc(x.shell.jobs.List(), func(j proc.JobStatus) bool { return j.Running }) {
		notes = append(notes, "(a job runs beside it: that sees what a command changes when the command has ended, and a command may not see all that a job changes meanwhile; wait for a job in a further call)")
	}
	notes = append(notes, refusedHosts(r)...)
	if why := barred(r); x.left != "" {
		notes = append(notes, x.left)
	} else if why != "" {
		notes = append(notes, "("+why+")")
	} else {
		notes = append(notes, gotOver(r)...)
	}
	notes = append(append(notes, notShown(r)...), x.decided...)
	notes = append(notes, putAside(r)...)
	if r.Survivors > 0 {
		notes = append(notes, fmt.Sprintf("(%s could not be ended, probably of another user)", plural.Of(r.Survivors, "process")))
	}
	if x.declared == "" && endsInCD().MatchString(x.in.Command) {
		notes = append(notes, "(cd does not last beyond this call; use workdir)")
	}
	return notes
}

// ofJob are the notes about a job that has ended: nobody is asked to run it outside, because it was
// started to go on.
func ofJob(r proc.Result) []string {
	notes := refusedHosts(r)
	if why := barred(r); why != "" {
		notes = append(notes, "("+why+")")
	} else {
		notes = append(notes, gotOver(r)...)
	}
	return append(notes, putAside(r)...)
}

func refusedHosts(r proc.Result) []string {
	var hosts []string
	why := ""
	for _, b := range r.Denied {
		if b.Kind == proc.BarredHost {
			hosts, why = append(hosts, b.What), b.Why
		}
	}
	if len(hosts) == 0 {
		return nil
	}
	if why != "" && len(hosts) == 1 {
		why = ": " + oneLine(why, 200)
	} else {
		why = ""
	}
	return []string{"(the sandbox did not let it reach " + named(hosts, ", ") + why + ")"}
}

// gotOver tells what a command was refused that succeeded all the same, or that failed of something
// else: what it left undone may matter.
func gotOver(r proc.Result) []string {
	all := slices.DeleteFunc(slices.Clone(r.Denied), func(b proc.Barred) bool { return b.Kind == proc.BarredHost || b.Kind == proc.BarredChange })
	if len(all) == 0 {
		return nil
	}
	return []string{"(the sandbox refused it something: " + named(sentences(all), "; ") + ")"}
}

// notShown names what a command that failed could not see.
func notShown(r proc.Result) (notes []string) {
	for _, hint := range r.Hidden {
		notes = append(notes, "("+hint+")")
	}
	return notes
}

func putAside(r proc.Result) (notes []string) {
	for _, told := range r.Told {
		notes = append(notes, "(the sandbox put aside what this command left: "+told+"; tell the user)")
	}
	for _, note := range r.Notes {
		notes = append(notes, "("+note+"; tell the user)")
	}
	return notes
}

// otherLink is the text of the error of git clone --local in a view (git 2.39).
const otherLink = "hardlink different from source"

// noOutput stands where a command wrote nothing.
const noOutput = "(no output)"

// exitLine begins the last line of the output of a command that succeeded.
const exitLine = "exit code 0"

// Written is what a command wrote, of the outcome of a bash call that succeeded: its output without
// what tells how it ended.
func Written(o tool.Outcome) string {
	text := o.Output
	if at := strings.LastIndexByte(text, '\n'); at >= 0 && strings.HasPrefix(text[at+1:], exitLine) {
		text = text[:at]
	}
	return strings.TrimSuffix(text, noOutput)
}
