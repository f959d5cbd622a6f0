package conformance_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"
	"testing"

	"adze/session"
)

// disturbs: what says nothing about the answer changes nothing of it, wherever in the stream it
// stands: fields, events, items and keys that nobody knows, numbers as other languages write them,
// and what is empty in another way.
func disturbs(t *testing.T, w Wire) {
	a := Answer{Reasoning: "思 so", Text: "ä𝄞 it", Calls: []Call{
		{ID: "call_a", Name: "read", Arguments: `{"path":"ü","n":3,"x":null,"s":""}`}, {ID: "call_b", Name: "list", Arguments: `{}`},
	}, Usage: session.Usage{Input: 11, Output: 7}, Piece: 12}
	s := w.Encode(a)
	n := 0
	same := func(what, body string) {
		t.Helper()
		n++
		g := answer(t, w, s.ContentType, func() io.Reader { return strings.NewReader(body) })
		if !equal(g, wantOf(a)) || g.done.Err != nil {
			t.Fatalf("%s:\n%s\nwant\n%s", what, g, wantOf(a))
		}
	}
	for i, at := range s.Records {
		end := len(s.Body)
		if i+1 < len(s.Records) {
			end = s.Records[i+1]
		}
		before, record, after := s.Body[:at], s.Body[at:end], s.Body[end:]
		if at <= s.Terminal {
			for _, u := range w.Unknown() {
				same(fmt.Sprintf("%q before record %d", u, i), before+u+record+after)
			}
		}
		for _, v := range lines(record) {
			same(fmt.Sprintf("record %d as %q", i, v), before+v+after)
		}
		for _, v := range spelled(record) {
			same(fmt.Sprintf("record %d as %s", i, v), before+v+after)
		}
	}
	if n < 100 {
		t.Errorf("only %d disturbed streams", n)
	}
}

// lines are a record of events with more in it that nobody needs to know.
func lines(record string) (out []string) {
	if !strings.HasPrefix(record, "data:") && !strings.HasPrefix(record, "event:") {
		return nil
	}
	for _, extra := range []string{": a comment\n", "id: 7\n", "retry: 10\n", "x-trace: 7 a\n", "trace\n", "meta: {\"a\":1}\n", "event: ping\ndata: \n\n", "data:\n\n"} {
		out = append(out, extra+record)
		if !strings.HasSuffix(extra, "\n\n") {
			out = append(out, strings.TrimSuffix(record, "\n")+extra+"\n")
		}
	}
	return out
}

// spelled are ways to write the JSON of a record that mean the same.
func spelled(record string) (out []string) {
	from := strings.Index(record, "{")
	if from < 0 {
		return nil
	}
	to := strings.LastIndex(record, "}") + 1
	root, err := parse(json.NewDecoder(strings.NewReader(record[from:to])))
	if err != nil {
		return nil
	}
	for _, v := range root.variants(false) {
		out = append(out, record[:from]+v+record[to:])
	}
	return out
}

// tree is JSON with the order of its keys.
type tree struct {
	raw    string // of a leaf
	open   byte   // { or [, else 0
	keys   []string
	values []tree
}

func parse(d *json.Decoder) (tree, error) {
	var raw json.RawMessage
	if err := d.Decode(&raw); err != nil {
		return tree{}, err
	}
	if raw[0] != '{' && raw[0] != '[' {
		return tree{raw: string(raw)}, nil
	}
	out := tree{open: raw[0]}
	inner := json.NewDecoder(bytes.NewReader(raw))
	_, err := inner.Token()
	for err == nil && inner.More() {
		var v tree
		if out.open == '{' {
			var key json.Token
			key, err = inner.Token()
			out.keys = append(out.keys, fmt.Sprint(key))
		}
		if err == nil {
			v, err = parse(inner)
			out.values = append(out.values, v)
		}
	}
	return out, err
}

func (v tree) String() string {
	if v.open == 0 {
		return v.raw
	}
	var parts []string
	for i, e := range v.values {
		if v.open == '{' {
			key, _ := json.Marshal(v.keys[i]) // a string can be encoded
			parts = append(parts, string(key)+":"+e.String())
			continue
		}
		parts = append(parts, e.String())
	}
	return string(v.open) + strings.Join(parts, ",") + string(v.open+2)
}

// variants writes a value with one change each. What a call brings is the model's, and stays.
func (v tree) variants(bare bool) (out []string) {
	switch {
	case v.raw == "null":
		return []string{`""`}
	case v.raw == `""` && !bare:
		return []string{"null"}
	case v.open == 0 && regexp.MustCompile(`^\d+$`).MatchString(v.raw):
		return []string{v.raw + ".0", v.raw + "e0"}
	case v.open == 0:
		return nil
	}
	if len(v.values) == 0 {
		out = append(out, "null", `""`)
	}
	if v.open == '{' {
		for _, extra := range []string{"1", `"s"`, "null", `{"a":[1]}`, "[]", "true", `""`} {
			more := tree{open: '{', keys: append(slices.Clone(v.keys), "x_unknown"), values: append(slices.Clone(v.values), tree{raw: extra})}
			out = append(out, more.String())
		}
	}
	for i := range v.values {
		if v.open == '{' && slices.Contains([]string{"args", "arguments", "input"}, v.keys[i]) {
			continue
		}
		if v.open == '{' && v.values[i].raw == "null" {
			less := tree{open: '{', keys: slices.Delete(slices.Clone(v.keys), i, i+1), values: slices.Delete(slices.Clone(v.values), i, i+1)}
			out = append(out, less.String())
		}
		for _, one := range v.values[i].variants(v.open == '[') {
			changed := tree{open: v.open, keys: v.keys, values: slices.Clone(v.values)}
			changed.values[i] = tree{raw: one}
			out = append(out, changed.String())
		}
	}
	return out
}
