package trust

import (
	"slices"
	"testing"
)

// TestAServerNamesTheVariablesThatItIsGiven: they may hold secrets, so the user sees them before
// they consent.
func TestAServerNamesTheVariablesThatItIsGiven(t *testing.T) {
	got := variables([]byte(`{"command":"x","args":["${A}","${workspaceFolder}"],"headers":{"h":"Bearer ${env:TOKEN}"},"url":"https://e.example/${A}${B:-none}"}`))
	if !slices.Equal(got, []string{"A", "TOKEN", "B"}) {
		t.Errorf("%q", got)
	}
}

// TestALentServerIsAskedAboutByItsDefinition: another argument or value of a variable is another
// one; nothing of it is in the project's files.
func TestALentServerIsAskedAboutByItsDefinition(t *testing.T) {
	p := Project{Dir: t.TempDir(), Book: OpenBook(t.TempDir())}
	entry := `{"command":"node","args":["a.js"],"env":{"K":"1"}}`
	i, err := p.SuppliedServer("editor", "x", []byte(entry))
	if err != nil || i.State != Waiting || i.Hash == "" || i.ID != "server:x@editor" {
		t.Fatalf("%+v, %v", i, err)
	}
	if err := p.Book.Allow(t.Context(), p.Dir, i); err != nil {
		t.Fatal(err)
	}
	for entry, want := range map[string]State{
		entry: Allowed, `{"command":"node","args":["b.js"],"env":{"K":"1"}}`: Changed, `{"command":"node","args":["a.js"],"env":{"K":"2"}}`: Changed,
	} {
		if i, _ := p.SuppliedServer("editor", "x", []byte(entry)); i.State != want {
			t.Errorf("%s is %s, want %s", entry, i.State, want)
		}
	}
	if i, _ := p.SuppliedServer("other", "x", []byte(entry)); i.State != Waiting {
		t.Errorf("of another program it is %s", i.State)
	}
}
