package toolset

import (
	"cmp"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"adze/internal/sandbox/proc"
	"adze/tool"
)

// wall is a cage around nothing that says what a command wanted of it.
type wall struct {
	found proc.Findings
	level string // if empty, full
}

func (w wall) Enclose(_ context.Context, c proc.Command) (proc.Confinement, error) {
	if c.NoWalls {
		return proc.Confinement{}, nil
	}
	return proc.Confinement{Name: cmp.Or(w.level, "full (test)"), Env: append(c.Env, "INSIDE=1"), Done: func() proc.Findings { return w.found }}, nil
}

// A command that failed for want of what no sandbox lets through is offered outside, once, with the
// reason; whatever is answered, the model reads what happened. Without that evidence, or with
// success, nothing is offered.
func TestACommandIsOfferedOutside(t *testing.T) {
	barred := proc.Findings{Refused: []proc.Denial{{Kind: proc.BarredConnect, Target: "10.0.0.5:443", Reason: "which is elsewhere"}}}
	for name, c := range map[string]struct {
		found   proc.Findings
		command string
		may     bool
		allow   bool
		asks    int
		runs    string
		says    []string
	}{
		"allowed":           {barred, "echo run $INSIDE >> log; test -z \"$INSIDE\"", true, true, 1, "run 1\nrun\n", []string{"run a second time, outside", "10.0.0.5:443"}},
		"denied":            {barred, "echo run $INSIDE >> log; false", true, false, 1, "run 1\n", []string{"it was not run outside: not now", "exit code 1"}},
		"success":           {barred, "echo run $INSIDE >> log", true, true, 0, "run 1\n", nil},
		"no evidence":       {proc.Findings{Denied: []proc.Denial{{Kind: proc.BarredHost, Target: "a.example:443", Reason: "no rule allows it"}}}, "echo 'outside! EROFS' >> log; false", true, true, 0, "outside! EROFS\n", []string{"did not let it reach a.example:443"}},
		"a sandbox that is": {barred, "echo run $INSIDE >> log; false", false, true, 0, "run 1\n", []string{"exit code 1"}},
	} {
		t.Run(name, func(t *testing.T) {
			d := newDesk(t)
			set := behind(t, d, wall{found: c.found}, c.may)
			asks := 0
			runner := &tool.Runner{Session: "s", Gate: tool.GateFunc(func(_ context.Context, q tool.Question) (tool.Decision, error) {
				if q.Needs[0].OutsideReason == "" {
					return tool.Decision{Allow: true}, nil
				}
				asks++
				return tool.Decision{Allow: c.allow, Asked: true, Reason: "not now"}, nil
			})}
			o := runner.Exec(t.Context(), runner.Hydrate(t.Context(), set, []tool.RawCall{{ID: "c", Name: "bash", Arguments: encoded(t, args{"command": c.command})}})[0])
			raw, _ := os.ReadFile(filepath.Join(d.dir, "log"))
			if string(raw) != c.runs || asks != c.asks {
				t.Errorf("it ran as %q after %d questions", raw, asks)
			}
			for _, says := range c.says {
				if !strings.Contains(o.Output, says) {
					t.Errorf("%q is not in\n%s", says, o.Output)
				}
			}
		})
	}
}

// What its gate has read to fail in a sandbox is asked for before it runs, and then runs once:
// outside, or not at all.
func TestACommandThatWouldFailInsideIsAskedForFirst(t *testing.T) {
	for name, c := range map[string]struct {
		may, allow bool
		asks       int
		runs       string
	}{
		"allowed":           {true, true, 1, "run\n"},
		"denied":            {true, false, 1, ""},
		"a sandbox that is": {false, true, 0, "run 1\n"},
	} {
		t.Run(name, func(t *testing.T) {
			d := newDesk(t)
			set := behind(t, d, wall{}, c.may)
			asks := 0
			runner := &tool.Runner{Session: "s", Gate: tool.GateFunc(func(_ context.Context, q tool.Question) (tool.Decision, error) {
				if q.Needs[0].OutsideReason == "" {
					return tool.Decision{Allow: true, Reading: &tool.CommandReading{Sandboxed: true, Leaves: "it writes the configuration of git"}}, nil
				}
				asks++
				return tool.Decision{Allow: c.allow, Asked: true, Reason: "not now"}, nil
			})}
			o := runner.Exec(t.Context(), runner.Hydrate(t.Context(), set, []tool.RawCall{{ID: "c", Name: "bash", Arguments: encoded(t, args{"command": "echo run $INSIDE >> log"})}})[0])
			raw, _ := os.ReadFile(filepath.Join(d.dir, "log"))
			if string(raw) != c.runs || asks != c.asks {
				t.Errorf("it ran as %q after %d questions", raw, asks)
			}
			if !c.allow && (o.Status == tool.Completed || !strings.Contains(o.Output, "not now")) {
				t.Errorf("%s: %s", o.Status, o.Output)
			}
		})
	}
}

// A command that failed is told of the sandbox that it ran in, and of no other.
func TestACommandIsToldOfTheSandboxThatItRanIn(t *testing.T) {
	for level, says := range map[string]string{"full (ns)": "through the proxy of HTTPS_PROXY", "degraded (landlock)": "in which commands only read"} {
		d := newDesk(t)
		set := behind(t, d, wall{level: level}, true)
		runner := &tool.Runner{Session: "s", Gate: tool.GateFunc(func(context.Context, tool.Question) (tool.Decision, error) { return tool.Decision{Allow: true}, nil })}
		o := runner.Exec(t.Context(), runner.Hydrate(t.Context(), set, []tool.RawCall{{ID: "c", Name: "bash", Arguments: encoded(t, args{"command": "exit 3"})}})[0])
		if !strings.Contains(o.Output, says) || strings.Count(o.Output, "it ran in a sandbox") != 1 {
			t.Errorf("%s: %q is not in\n%s", level, says, o.Output)
		}
	}
}

// A job that failed tells what the sandbox kept it from, and what was put aside of it.
func TestAJobTellsWhatTheSandboxKeptItFrom(t *testing.T) {
	d := newDesk(t)
	found := proc.Findings{Refused: []proc.Denial{{Kind: proc.BarredWrite, Target: "/etc/x", Reason: "which is read only"}}, Denied: []proc.Denial{{Kind: proc.BarredHost, Target: "a.example:443", Reason: "no rule allows it"}}, Messages: []string{"sub/.git"}}
	shell := NewShell(proc.Supervisor{Cage: wall{found: found}}, []string{"PATH=" + os.Getenv("PATH")})
	t.Cleanup(shell.Close)
	var registry tool.Registry
	for _, own := range []tool.Tool{bash(files{root: d.deps.Root, knownFiles: d.deps.KnownFiles}, shell), bashOutput(shell)} {
		if err := registry.Register(own); err != nil {
			t.Fatal(err)
		}
	}
	set, err := registry.Tools(t.Context(), tool.Init{Workspace: d.dir})
	if err != nil {
		t.Fatal(err)
	}
	runner := &tool.Runner{Session: "s", Gate: tool.GateFunc(func(context.Context, tool.Question) (tool.Decision, error) { return tool.Decision{Allow: true}, nil })}
	calls := runner.Hydrate(t.Context(), set, []tool.RawCall{
		{ID: "a", Name: "bash", Arguments: encoded(t, args{"command": "exit 3", "background": true})},
		{ID: "b", Name: "bash_output", Arguments: encoded(t, args{"job": "job1", "wait": 60})},
	})
	job := runner.Exec(t.Context(), calls[0])
	o := runner.Exec(t.Context(), calls[1])
	for _, part := range []string{"could not write /etc/x, which is read only", "a.example:443", "put aside what this command left: sub/.git", "ended with exit code 3"} {
		if !strings.Contains(o.Output, part) {
			t.Errorf("%q is not told\n%s\n%s", part, job.Output, o.Output)
		}
	}
}

// What the door of a sandbox carried stands in the record of the call.
func TestTheRecordTellsWhatWasCarried(t *testing.T) {
	d := newDesk(t)
	carried := proc.Findings{Traffic: []proc.HostTraffic{{Host: "a.example:443", Connections: 2, Sent: 10, Received: 2000}}}
	shell := NewShell(proc.Supervisor{Cage: wall{found: carried}}, []string{"PATH=" + os.Getenv("PATH")})
	t.Cleanup(shell.Close)
	var registry tool.Registry
	if err := registry.Register(bash(files{root: d.deps.Root, knownFiles: d.deps.KnownFiles}, shell)); err != nil {
		t.Fatal(err)
	}
	set, err := registry.Tools(t.Context(), tool.Init{Workspace: d.dir})
	if err != nil {
		t.Fatal(err)
	}
	runner := &tool.Runner{Session: "s", Gate: tool.GateFunc(func(context.Context, tool.Question) (tool.Decision, error) { return tool.Decision{Allow: true}, nil })}
	o := runner.Exec(t.Context(), runner.Hydrate(t.Context(), set, []tool.RawCall{{ID: "c", Name: "bash", Arguments: encoded(t, args{"command": "true"})}})[0])
	if want := (tool.HostTraffic{Host: "a.example:443", Connections: 2, Sent: 10, Received: 2000}); len(o.Record.Traffic) != 1 || o.Record.Traffic[0] != want {
		t.Errorf("%+v", o.Record)
	}
}

// behind is the bash tool of a desk, behind a wall.
func behind(t *testing.T, d *desk, w wall, may bool) *tool.Set {
	t.Helper()
	shell := NewShell(proc.Supervisor{Cage: w}, []string{"PATH=" + os.Getenv("PATH")})
	shell.MayLeave = may
	t.Cleanup(shell.Close)
	var registry tool.Registry
	if err := registry.Register(bash(files{root: d.deps.Root, knownFiles: d.deps.KnownFiles}, shell)); err != nil {
		t.Fatal(err)
	}
	set, err := registry.Tools(t.Context(), tool.Init{Workspace: d.dir})
	if err != nil {
		t.Fatal(err)
	}
	return set
}
