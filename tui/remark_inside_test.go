package tui

import "testing"

// A line behind a # is written down; a heading of a longer text, one of another level and an
// issue's number are not.
func TestWhatIsARemark(t *testing.T) {
	for text, want := range map[string]string{
		"#use tabs": "use tabs", "# use tabs ": "use tabs", " \n# é\n": "é",
		"# Title\n\ntext": "", "## Title": "", "#": "", "# ": "", "#!/bin/sh": "", "#12 is open": "", "use # tabs": "", "": "",
	} {
		if line, ok := remark(text); ok != (want != "") || ok && line != want {
			t.Errorf("%q is %q, %v, want %q", text, line, ok, want)
		}
	}
}
