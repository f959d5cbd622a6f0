package export_test

import (
	"strings"
	"testing"

	"adze/internal/sessiondb/export"
)

func TestRubbishIsRefused(t *testing.T) {
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
		says string
	}{
		"nothing":             {"", "unexpected end"},
		"a picture":           {"\x89PNG\r\n", "not UTF-8"},
		"prose":               {"hello", "no session that adze exported"},
		"a list":              {"[]", "no session that adze exported"},
		"another object":      {"{\"a\":\n1}", "no session that adze exported"},
		"no messages":         {head + "\"title\":\"x\"}", "\"messages\" is missing"},
		"no session":          {"{\"adze_session\":1,\"messages\":[]}", "\"session\" is missing"},
		"a newer format":      {"{\n\n\"adze_session\": 99, \"messages\":[]}", "newer adze"},
		"a format in words":   {"{\n\"adze_session\": \"1\", \"messages\":[]}", "version of the format"},
		"an unknown field":    {head + "\"grants\": [\"all\"], \"messages\":[]}", "unknown field"},
		"a wrong type":        {head + "\"title\": 7, \"messages\":[]}", "cannot unmarshal number"},
		"something behind":    {head + "\"messages\":[]}\n{}", "after top-level"},
		"cut":                 {string(sound[:len(sound)/2]), "unexpected end"},
		"messages as text":    {head + "\"messages\":\"all\"}", "cannot unmarshal string"},
		"a message as text":   {message("\"hi\""), "cannot unmarshal string"},
		"a speaker":           {message("{\"id\":\"m2\",\"role\":\"system\",\"parts\":[]}"), "nobody who speaks"},
		"the same id":         {message("{\"id\":\"m1\",\"role\":\"user\",\"parts\":[]}"), "already"},
		"a field of a part":   {message("{\"id\":\"m2\",\"role\":\"user\",\"parts\":[{\"text\":\"x\",\"opaque\":1}]}"), "unknown field"},
		"an empty part":       {message("{\"id\":\"m2\",\"role\":\"user\",\"parts\":[{}]}"), "part 1"},
		"a call of a person":  {message("{\"id\":\"m2\",\"role\":\"user\",\"parts\":[{\"call\":{\"id\":\"c\",\"tool\":\"bash\"}}]}"), "only the model calls"},
		"a call without tool": {message("{\"id\":\"m2\",\"role\":\"assistant\",\"parts\":[{\"call\":{\"id\":\"c\"}}]}"), "an id and a tool"},
		"a status":            {message("{\"id\":\"m2\",\"role\":\"assistant\",\"parts\":[{\"call\":{\"id\":\"c\",\"tool\":\"t\",\"status\":\"great\"}}]}"), "no call ends"},
		"arguments in a list": {message("{\"id\":\"m2\",\"role\":\"assistant\",\"parts\":[{\"call\":{\"id\":\"c\",\"tool\":\"t\",\"arguments\":[1]}}]}"), "are objects"},
		"no picture":          {message("{\"id\":\"m2\",\"role\":\"user\",\"parts\":[{\"picture\":{\"name\":\"x\",\"media_type\":\"image/png\",\"data\":\"PHN2Zz4=\"}}]}"), "no picture"},
	} {
		_, err := export.Decode([]byte(c.text))
		if err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %v, want %q", name, err, c.says)
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
		if err != nil {
			return
		}
		if _, err := d.Entries(export.ImportOptions{Tools: tools{}}); err != nil {
			t.Fatal(err)
		}
	})
}
