package policy

import (
	"testing"

	"adze/tool"
)

// In mode staged nobody is asked about the workspace while a stage is there, and as in mode ask
// while there is none.
func TestModeStagedAllowsOnTheStageAlone(t *testing.T) {
	why := ""
	p := newPolicy(t, Staged, nil)
	p.options.Stage = func() string { return why }
	p.options.Contained = func(bool) (string, bool) { return "full", true }
	write := tool.Need{Permission: tool.Write, Target: "a.go"}
	run := tool.Need{Permission: tool.Execute, Target: "make", Sandboxed: true}
	host := tool.Need{Permission: tool.Network, Target: "https://go.dev"}
	stays := run
	stays.OutlivesCall = true
	for _, c := range []struct {
		why  string
		need tool.Need
		want Effect
	}{{"", write, Allow}, {"", run, Allow}, {"", host, Ask}, {"", stays, Deny}, {"there is none", write, Ask}, {"there is none", run, Ask}} {
		why = c.why
		if v := p.judge(Staged, c.need); v.effect != c.want {
			t.Errorf("%q: %s %s is %s, want %s: %s", c.why, c.need.Permission, c.need.Target, v.effect, c.want, v.reason)
		}
	}
}
