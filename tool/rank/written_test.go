package rank

import (
	"context"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"testing"

	"adze/tool"
)

func manyTools(n int) (out []tool.Definition) {
	words := []string{"reads", "a", "photo", "ticket", "invoice", "web", "hook", "of", "the", "customer", "channel", "sends", "mail"}
	for i := range n {
		out = append(out, tool.Definition{
			Name: fmt.Sprintf("s%d_%s_%s", i%10, words[i%13], words[i*7%13]), Description: words[i*3%13] + " " + words[i*5%13] + " and the thing",
			Parameters: json.RawMessage(`{"type":"object","properties":{"path":{"type":"string","description":"the ` + words[i*11%13] + `"}}}`),
		})
	}
	return out
}

// TestAWrittenIndexAnswersAsTheOneItWas: scores, order and reasons, for words, synonyms,
// beginnings, misspellings and halves.
func TestAWrittenIndexAnswersAsTheOneItWas(t *testing.T) {
	for _, scorer := range []BM25{{}, {Plain: true}} {
		defs := manyTools(170)
		fresh, err := scorer.Index(t.Context(), defs)
		if err != nil {
			t.Fatal(err)
		}
		kept, err := scorer.Decode(scorer.Encode(fresh), len(defs))
		if err != nil {
			t.Fatal(err)
		}
		for _, query := range []string{"", "hello", "read the photo", "webhook", "pic.jpg", "send an emial to the client", "inv", "ticket ticket customer", "xyzzy"} {
			a, errA := fresh.Score(t.Context(), query)
			b, errB := kept.Score(t.Context(), query)
			if errA != nil || errB != nil || !slices.Equal(a.Values, b.Values) {
				t.Fatalf("%q: %v %v, %v, %v", query, a.Values, b.Values, errA, errB)
			}
			for i := range defs {
				if a.Explain(i) != b.Explain(i) {
					t.Errorf("%q: %q, and written %q", query, a.Explain(i), b.Explain(i))
				}
			}
		}
	}
}

// TestADamagedIndexIsRefused: at each bit of each byte, and cut at each of them.
func TestADamagedIndexIsRefused(t *testing.T) {
	x, err := BM25{}.Index(t.Context(), manyTools(5))
	if err != nil {
		t.Fatal(err)
	}
	raw := BM25{}.Encode(x)
	if _, err := (BM25{}).Decode(raw, 6); err == nil {
		t.Error("it is taken for other tools")
	}
	for i := range raw {
		if _, err := (BM25{}).Decode(raw[:i], 5); err == nil {
			t.Fatalf("cut at %d it is taken", i)
		}
		bad := slices.Clone(raw)
		bad[i] ^= 1 << (i % 8)
		if _, err := (BM25{}).Decode(bad, 5); err == nil {
			t.Fatalf("wrong at %d it is taken", i)
		}
	}
}

// shelved is a shelf in memory that counts.
type shelved struct {
	raw          []byte
	loads, saves int
}

func (s *shelved) shelf() Shelf {
	return Shelf{Load: func(string) []byte { s.loads++; return s.raw }, Save: func(_ string, raw []byte) { s.saves++; s.raw = raw }}
}

// TestAPickReadsWhatItPicks: of later tools, with an index that is kept, no other definition is
// read; what is picked is the same as with all of them at hand.
func TestAPickReadsWhatItPicks(t *testing.T) {
	defs := manyTools(170)
	read := map[string]int{}
	var registry tool.Registry
	for i, d := range defs {
		d.Name = fmt.Sprintf("%s_%d", d.Name, i)
		defs[i] = d
		made := tool.Define(d.Name, tool.Config[json.RawMessage, struct{}]{
			Description: d.Description, Parameters: d.Parameters, Redact: tool.Expose(), Permissions: tool.Requires(tool.Execute),
			Run: func(context.Context, tool.Context[struct{}], json.RawMessage) (tool.Result[struct{}], error) {
				return tool.Result[struct{}]{}, nil
			},
		})
		if err := registry.Register(tool.DefineLater(d.Name, tool.Later{Digest: d.Name, Read: func() (tool.Tool, error) {
			read[d.Name]++
			return made, nil
		}})); err != nil {
			t.Fatal(err)
		}
	}
	keep := &shelved{}
	for round := range 3 {
		if round == 2 {
			keep.raw[len(keep.raw)-1] ^= 1
		}
		clear(read)
		set, err := registry.Tools(t.Context(), tool.Init{})
		if err != nil {
			t.Fatal(err)
		}
		o := Options{MaxCandidates: 10, Budget: 8 << 10, AllowUnsafe: true, Debug: true}
		got := Of(set, nil, keep.shelf()).Pick(t.Context(), "read the photo of the invoice", o)
		want := New(set.Definitions(), nil)
		all := want.Pick(t.Context(), "read the photo of the invoice", o)
		if len(got) != len(all) {
			t.Fatal(len(got), len(all))
		}
		for i := range got {
			a, b := got[i], all[i]
			if a.Excluded {
				b.Definition = tool.Definition{Name: b.Definition.Name}
			}
			if !reflect.DeepEqual(a, b) {
				t.Fatalf("%+v\n%+v", a, b)
			}
		}
	}
	if keep.loads != 3 || keep.saves != 2 {
		t.Errorf("%d loads, %d saves: once at first, once when it was damaged", keep.loads, keep.saves)
	}
	clear(read)
	set, _ := registry.Tools(t.Context(), tool.Init{})
	if picked := Of(set, nil, keep.shelf()).Pick(t.Context(), "read the photo", Options{MaxCandidates: 4, Budget: 8 << 10, AllowUnsafe: true}); len(picked) != 4 || len(read) != 4 {
		t.Errorf("%d are picked, and %d read", len(picked), len(read))
	}
	if set.Digest(); len(read) != 4 || !set.Has(defs[0].Name) {
		t.Error("a name needs no definition")
	}
}
