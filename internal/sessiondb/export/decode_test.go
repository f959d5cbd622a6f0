package export_test

import (
	"errors"
	"strings"
	"testing"

	"adze/internal/sessiondb/export"
)

func TestRubbishIsRefusedWithItsLine(t *testing.T) {
	sound, err := of(ordinary(t)).JSON()
	if err != nil {
		t.Fatal(err)
	}
	const head = "{\n\"adze_session\": 1,\n\"session\": \"s\",\n"
	message := func(text string) string {
		return head + "\"messages\": [\n{\"id\":\"m1\",\"role\":\"user\",\"parts\":[]},\n" + text + "]}"
	}
	for name, c := range map[string]struct {
		text string
		line int
		says string
	}{
		"nothing":             {"", 1, "ends in the middle"},
		"a picture":           {"\x89PNG\r\n", 1, "not UTF-8"},
		"prose":               {"hello", 1, "not JSON"},
		"a list":              {"[]", 1, "one JSON object"},
		"another object":      {"{\"a\":\n1}", 1, "no session that adze exported"},
		"no messages":         {head + "\"title\":\"x\"}", 1, "\"messages\" is missing"},
		"no session":          {"{\"adze_session\":1,\"messages\":[]}", 1, "\"session\" is missing"},
		"a newer format":      {"{\n\n\"adze_session\": 99, \"messages\":[]}", 3, "newer adze"},
		"a format in words":   {"{\n\"adze_session\": \"1\", \"messages\":[]}", 2, "version of the format"},
		"an unknown field":    {head + "\"grants\": [\"all\"], \"messages\":[]}", 4, "unknown field"},
		"a wrong type":        {head + "\"title\": 7, \"messages\":[]}", 4, "cannot be a number"},
		"something behind":    {head + "\"messages\":[]}\n{}", 5, "after top-level"},
		"cut":                 {string(sound[:len(sound)/2]), 0, "ends in the middle"},
		"messages as text":    {head + "\"messages\":\"all\"}", 4, "cannot be a string"},
		"a message as text":   {message("\"hi\""), 6, "message 2"},
		"a speaker":           {message("{\"id\":\"m2\",\"role\":\"system\",\"parts\":[]}"), 6, "nobody who speaks"},
		"the same id":         {message("{\"id\":\"m1\",\"role\":\"user\",\"parts\":[]}"), 6, "already"},
		"a field of a part":   {message("{\"id\":\"m2\",\"role\":\"user\",\"parts\":[{\"text\":\"x\",\"opaque\":1}]}"), 6, "unknown field"},
		"an empty part":       {message("{\"id\":\"m2\",\"role\":\"user\",\"parts\":[{}]}"), 6, "part 1"},
		"a call of a person":  {message("{\"id\":\"m2\",\"role\":\"user\",\"parts\":[{\"call\":{\"id\":\"c\",\"tool\":\"bash\"}}]}"), 6, "only the model calls"},
		"a call without tool": {message("{\"id\":\"m2\",\"role\":\"assistant\",\"parts\":[{\"call\":{\"id\":\"c\"}}]}"), 6, "an id and a tool"},
		"a status":            {message("{\"id\":\"m2\",\"role\":\"assistant\",\"parts\":[{\"call\":{\"id\":\"c\",\"tool\":\"t\",\"status\":\"great\"}}]}"), 6, "no call ends"},
		"arguments in a list": {message("{\"id\":\"m2\",\"role\":\"assistant\",\"parts\":[{\"call\":{\"id\":\"c\",\"tool\":\"t\",\"arguments\":[1]}}]}"), 6, "are objects"},
		"no picture":          {message("{\"id\":\"m2\",\"role\":\"user\",\"parts\":[{\"picture\":{\"name\":\"x\",\"media_type\":\"image/png\",\"data\":\"PHN2Zz4=\"}}]}"), 6, "no picture"},
	} {
		_, err := export.Decode([]byte(c.text))
		var fault *export.FaultError
		if !errors.As(err, &fault) || !strings.Contains(fault.Why, c.says) || c.line > 0 && fault.Line != c.line {
			t.Errorf("%s: %v, want line %d and %q", name, err, c.line, c.says)
		}
	}
	for at := range sound { // no cut of a sound one is one
		if _, err := export.Decode(sound[:at]); at < len(sound)-1 && err == nil {
			t.Fatalf("%d of %d bytes were taken", at, len(sound))
		}
		if at > 4000 {
			break
		}
	}
}

func FuzzDecode(f *testing.F) {
	f.Add([]byte(`{"adze_session":1,"session":"s","messages":[{"id":"m1","role":"assistant","parts":[{"call":{"id":"c","tool":"shell","status":"completed","arguments":{"path":"x"}}}]}]}`))
	f.Fuzz(func(t *testing.T, raw []byte) {
		d, err := export.Decode(raw)
		var fault *export.FaultError
		if err != nil && (!errors.As(err, &fault) || fault.Line < 1) {
			t.Fatal(err)
		}
		if err != nil {
			return
		}
		if _, err := d.Entries(export.ImportOptions{Tools: tools{}}); err != nil {
			t.Fatal(err)
		}
	})
}
