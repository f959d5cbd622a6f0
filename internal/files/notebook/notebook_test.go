package notebook

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"
)

// book is written as Jupyter writes it: one space a step, lists of lines.
const book = `{
 "cells": [
  {
   "cell_type": "markdown",
   "id": "a1",
   "metadata": {},
   "source": [
    "# Title\n",
    "with a \"quote\" and <b>"
   ]
  },
  {
   "cell_type": "code",
   "execution_count": 3,
   "metadata": {},
   "outputs": [
    {"name": "stdout", "output_type": "stream", "text": ["one\n", "two\n"]},
    {"output_type": "display_data", "data": {"image/png": "iVBORw0KGgoAAAANSUhEUg==", "text/plain": ["<Figure>"]}, "metadata": {}},
    {"output_type": "error", "ename": "E", "evalue": "v", "traceback": ["\u001b[0;31mE\u001b[0m: v"]}
   ],
   "source": [
    "x = 1\n",
    "print(x)"
   ]
  },
  {
   "cell_type": "code",
   "source": []
  }
 ],
 "metadata": {"language_info": {"name": "python"}},
 "nbformat": 4,
 "nbformat_minor": 5
}
`

func TestShowsCells(t *testing.T) {
	b, ok := Parse(book)
	if !ok {
		t.Fatal("not a notebook")
	}
	want := `# %% cell 1, markdown
# Title
with a "quote" and <b>
# %% cell 2, code
x = 1
print(x)
#> one
#> two
#> <Figure>
#> [image/png, 19 bytes]
#> E: v
# %% cell 3, code
`
	if b.Text != want {
		t.Errorf("got\n%s", b.Text)
	}
}

// replace changes one text of a book and returns the file.
func replace(t *testing.T, raw, old, new string) (string, error) {
	t.Helper()
	b, ok := Parse(raw)
	if !ok {
		t.Fatal("not a notebook")
	}
	at := strings.Index(b.Text, old)
	if at < 0 {
		t.Fatalf("%q is not there", old)
	}
	changes, err := b.Apply([]Change{{at, at + len(old), new}})
	for i := len(changes) - 1; i >= 0; i-- {
		raw = raw[:changes[i].Start] + changes[i].New + raw[changes[i].End:]
	}
	return raw, err
}

func TestChangesNothingButTheSource(t *testing.T) {
	got, err := replace(t, book, "x = 1", "x = \"<2>\"\ny = 3")
	if err != nil {
		t.Fatal(err)
	}
	want := strings.Replace(book, `    "x = 1\n",`, `    "x = \"<2>\"\n",`+"\n"+`    "y = 3\n",`, 1)
	if got != want {
		t.Errorf("got\n%s", got)
	}
	if back, err := replace(t, got, "x = \"<2>\"\ny = 3", "x = 1"); err != nil || back != book {
		t.Errorf("there and back: %v\n%s", err, back)
	}
	for _, raw := range []string{
		`{"cells":[{"cell_type":"code","source":["a\n","b"]}],"nbformat":4}`,
		`{"nbformat":4,"cells":[{"source":"a\nb","cell_type":"code"}]}`,
		`{"nbformat":4,"cells":[{"source":["a\nb"],"cell_type":"code"}]}`,
	} {
		got, err := replace(t, raw, "a\n", "ä\nc\n")
		b, ok := Parse(got)
		if err != nil || !ok || b.Text != "# %% cell 1, code\nä\nc\nb\n" || !json.Valid([]byte(got)) {
			t.Errorf("%s: %s, %v", raw, got, err)
		}
	}
}

func TestRefusesOtherChanges(t *testing.T) {
	for _, old := range []string{"cell 2, code", "#> one", "with a \"quote\" and <b>\n# %% cell 2, code\nx = 1", "print(x)\n#> one"} {
		if got, err := replace(t, book, old, "z"); !errors.Is(err, ErrNotSource) || got != book {
			t.Errorf("%q: %v", old, err)
		}
	}
}

// TestChangesMayNameWhatIsAround: a text to replace often brings its neighbours along, which stay
// as they are.
func TestChangesMayNameWhatIsAround(t *testing.T) {
	for _, c := range []struct{ old, new, source string }{
		{"# %% cell 3, code\n", "# %% cell 3, code\ny = 2\nz = 3\n", "y = 2\nz = 3"},
		{"print(x)\n#> one", "print(x)\nprint(y)\n#> one", "x = 1\nprint(x)\nprint(y)"},
		{"<b>\n# %% cell 2, code\nx = 1", "<b>\n# %% cell 2, code\nx = 2", "x = 2\nprint(x)"},
		{"# %% cell 2, code\nx = 1\nprint(x)\n", "# %% cell 2, code\nx = 1\n", "x = 1\n"},
	} {
		raw, err := replace(t, book, c.old, c.new)
		b, ok := Parse(raw)
		if err != nil || !ok || !strings.Contains(b.Text, "code\n"+strings.TrimSuffix(c.source, "\n")+"\n") || b.Cells != 3 {
			t.Errorf("%q: %v\n%s", c.old, err, b.Text)
		}
	}
}

func TestOutputIsCut(t *testing.T) {
	b, _ := Parse(`{"cells":[{"cell_type":"code","source":"p","outputs":[{"output_type":"stream","text":"` + strings.Repeat(`l\n`, 500) + `"}]}],"nbformat":4}`)
	if !strings.Contains(b.Text, "#> (480 more lines of output)") || strings.Count(b.Text, "\n") != 23 {
		t.Errorf("%s", b.Text)
	}
}

func TestIsNoNotebook(t *testing.T) {
	for _, raw := range []string{"", "{}", "[]", `{"cells":3}`, `{"cells":[]}`, `{"cells":[{}],"nbformat":4}`, `{"cells":[],"nbformat":3}`, `{"cells":[{"source":1}],"nbformat":4}`, book[:200]} {
		if _, ok := Parse(raw); ok {
			t.Errorf("%q is taken for a notebook", raw)
		}
	}
}

// FuzzParse: whatever is read can be written back, and an edit of a source reads as edited.
func FuzzParse(f *testing.F) {
	f.Add(book, "new\n")
	f.Add(`{"nbformat":4,"cells":[{"source":"a\nb","cell_type":"code"}]}`, "")
	f.Fuzz(func(t *testing.T, raw, source string) {
		b, ok := Parse(raw)
		if !ok || len(b.parts) == 0 {
			return
		}
		p := b.parts[0]
		changes, err := b.Apply([]Change{{p.start, p.end, source}})
		if err != nil {
			t.Fatal(err)
		}
		c := changes[0]
		again, ok := Parse(raw[:c.Start] + c.New + raw[c.End:])
		if !ok || again.Text[again.parts[0].start:again.parts[0].end] != string([]rune(source)) {
			t.Fatalf("%q became %q", source, c.New)
		}
	})
}
