package trust

import (
	"slices"
	"testing"
)

// TestAServerNamesTheVariablesThatItIsGiven: they may hold secrets, so the person sees them before they consent.
func TestAServerNamesTheVariablesThatItIsGiven(t *testing.T) {
	got := variables([]byte(`{"command":"x","args":["${A}","${workspaceFolder}"],"headers":{"h":"Bearer ${env:TOKEN}"},"url":"https://e.example/${A}${B:-none}"}`))
	if !slices.Equal(got, []string{"A", "TOKEN", "B"}) {
		t.Errorf("%q", got)
	}
}
