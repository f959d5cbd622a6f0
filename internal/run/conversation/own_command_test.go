package conversation

import (
	"slices"
	"testing"

	"adze/internal/policy"
	"adze/tool"
)

func TestOnlyWholeRulesAreSaved(t *testing.T) {
	rules, ok := savedRules([]string{"allow execute(go test ./...)", "allow write(work:a.go)"})
	if !ok || !slices.Equal(rules, []string{"execute(go test ./...)", "write(work:a.go)"}) {
		t.Errorf("saved %q, %v", rules, ok)
	}
	for _, bad := range [][]string{nil, {"allow execute(echo $HOME)"}, {"deny read"}, {"allow execute(go build)", "nonsense"}} {
		if rules, ok := savedRules(bad); ok {
			t.Errorf("%q is saved as %q", bad, rules)
		}
	}
}

// Only what is not what it looks like is told: the file behind a link or behind dots.
func TestWhatIsWrittenPlainlyIsNotRepeated(t *testing.T) {
	write := func(target string) tool.Need { return tool.Need{Permission: tool.Write, Target: target} }
	got := resolved(policy.Prompt{Items: []policy.Item{
		{Need: write("a.go"), Target: "/ws/a.go"},
		{Need: write("/ws/b.go"), Target: "/ws/b.go"},
		{Need: write("link.go"), Target: "/etc/passwd"},
		{Need: write("../x.go"), Target: "/x.go"},
		{Need: tool.Need{Permission: tool.Execute, Target: "make"}, Target: "make"},
	}}, "/ws")
	if len(got) != 2 || got[write("link.go")] != "/etc/passwd" {
		t.Errorf("resolved: %v", got)
	}
}
