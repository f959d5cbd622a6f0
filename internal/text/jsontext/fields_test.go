package jsontext

import (
	"bytes"
	"encoding/json"
	"testing"
)

// FuzzFields compares with encoding/json, which decides what is there.
func FuzzFields(f *testing.F) {
	for _, s := range []string{
		`{}`, ` { "a" : 1 , "b":[1,{"a":"}"}], "c":"x\\" } `, `{"a":"\"","b":"\\\\\"a\":1","c":{"c":null}}`,
		`{"a":1,"a":"two","d":-1.5e3,"b":true}`, `[1]`, `{"a":1`, `{"a" 1}`, `{"a":]}`, `{"a":"x`, `{"a":1}x`, `{"":{"a":[[]]},"c":[]}`,
	} {
		f.Add([]byte(s))
	}
	names := []string{"a", "b", "c"}
	f.Fuzz(func(t *testing.T, data []byte) {
		values := make([][]byte, len(names))
		ok := Fields(data, names, values)
		var want map[string]json.RawMessage
		if json.Unmarshal(data, &want) != nil || want == nil || bytes.Contains(data, []byte(`\`)) && !plainNames(data) {
			return // whatever it says of what is no JSON, it returned
		}
		if !ok {
			t.Fatalf("%q: is not an object", data)
		}
		for i, name := range names {
			if !bytes.Equal(values[i], want[name]) {
				t.Fatalf("%q: %s is %q, want %q", data, name, values[i], want[name])
			}
		}
	})
}

// plainNames reports that no name of a field stands there with escapes.
func plainNames(data []byte) bool {
	d := json.NewDecoder(bytes.NewReader(data))
	if _, err := d.Token(); err != nil {
		return false
	}
	for d.More() {
		before := d.InputOffset()
		if _, err := d.Token(); err != nil || bytes.ContainsRune(data[before:d.InputOffset()], '\\') {
			return false
		}
		var value json.RawMessage
		if d.Decode(&value) != nil {
			return false
		}
	}
	return true
}
