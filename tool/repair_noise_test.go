package tool_test

import (
	"encoding/json"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// noisy writes arguments whose only slips are around and between values that are whole.
type noisy struct {
	*rand.Rand
	strings.Builder
}

func (w *noisy) value(v any) {
	switch v := v.(type) {
	case map[string]any:
		w.list("{}", len(v), func(i int) {
			name := sortedNames(v)[i]
			w.plain(name)
			w.WriteByte(':')
			w.value(v[name])
		}, true)
	case []any:
		objects := true
		for _, item := range v {
			_, object := item.(map[string]any)
			objects = objects && object
		}
		w.list("[]", len(v), func(i int) { w.value(v[i]) }, objects)
	default:
		w.plain(v)
	}
}

func (w *noisy) plain(v any) {
	raw, _ := json.Marshal(v)
	w.Write(raw)
}

// list writes items; lines may stand for commas where that is certain.
func (w *noisy) list(brackets string, n int, item func(int), lines bool) {
	w.WriteByte(brackets[0])
	if n > 0 && w.IntN(5) == 0 {
		w.WriteString([]string{",", " ,", "\n,"}[w.IntN(3)])
	}
	for i := range n {
		item(i)
		switch {
		case i == n-1 && w.IntN(5) > 0:
		case i < n-1 && lines && w.IntN(3) == 0:
			w.WriteString([]string{"\n", " \n\t", "\r\n"}[w.IntN(3)])
		default:
			w.WriteByte(',')
		}
	}
	w.WriteByte(brackets[1])
}

func sortedNames(v map[string]any) []string { return slices.Sorted(maps.Keys(v)) }

// FuzzNoise: what stands around and between whole values is passed over, and nothing else happens.
// The text that encoding/json reads without the noise is what must come out; with its end cut off,
// that or nothing.
func FuzzNoise(f *testing.F) {
	for seed := range uint64(200) {
		f.Add(seed, uint8(seed), uint16(0))
		f.Add(seed, uint8(seed), uint16(seed%7+1))
	}
	set := corpusSet(f)
	f.Fuzz(func(t *testing.T, seed uint64, around uint8, cut uint16) {
		r := rand.New(rand.NewPCG(seed, 7))
		want := randomEdit(r)
		w := noisy{Rand: r}
		w.value(want)
		text := w.String()
		if around&1 != 0 {
			text += []string{"}", "]", "}}\n", " ]} "}[around>>1&3]
		}
		if around&8 != 0 {
			text = "```json\n" + text + "\n```"
			if around&16 != 0 && !strings.Contains(w.String(), "```") {
				text = "I will change “it” now:\n" + text
			}
		}
		if around&32 != 0 {
			text = "\ufeff" + text
		}
		if int(cut) > len(text) {
			return
		}
		text = text[:len(text)-int(cut)]
		h := hydrateNamed(t, set, "edit", text)
		switch {
		case h.OK:
			if diff := cmp.Diff(any(want), decoded(t, string(h.Provenance.Validated))); diff != "" {
				t.Fatalf("%s\nbecame other arguments (-want +got):\n%s", text, diff)
			}
		case cut == 0:
			t.Fatalf("%s\nwas refused: %v", text, h.Errors)
		}
	})
}
