package instructions

import (
	"strings"
	"testing"
)

// A project's pattern is tried for each file that is read: one whose braces would take hours is for
// no file.
func TestAPatternThatTakesHoursIsForNoFile(t *testing.T) {
	for pattern, want := range map[string]bool{strings.Repeat("{a,*}", 20): false, strings.Repeat("{a,*}", 4): true, "*.{go,md}": true, `\{a,b\}`: false} {
		name := strings.Repeat("a", 20)
		if strings.HasPrefix(pattern, "*") {
			name = "a.go"
		}
		if got := (rule{folder: "/w", globs: []string{pattern}}).holds("/w/" + name); got != want {
			t.Errorf("%.20s: %v", pattern, got)
		}
	}
}
