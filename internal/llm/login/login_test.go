package login

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"

	"adze/internal/config"
	"adze/internal/config/keyring"
	"adze/internal/llm/models"
	"adze/internal/text/usage"
	"adze/session"
)

// planted is a key that no message may show.
const planted = "sk-planted-0123456789abcdef"

// gate is a server that takes one key, and counts who asked.
func gate(t *testing.T, status int) (url string, asked *int) {
	asked = new(int)
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		*asked++
		switch {
		case status != 0:
			w.WriteHeader(status)
		case r.Header.Get("Authorization") != "Bearer "+planted:
			w.WriteHeader(http.StatusUnauthorized)
			_, _ = io.WriteString(w, `{"error": {"message": "bad key `+r.Header.Get("Authorization")+`"}}`)
		default:
			_, _ = io.WriteString(w, `{"data":[{"id":"m"}]}`)
		}
	}))
	t.Cleanup(s.Close)
	return s.URL + "/v1", asked
}

func deskAt(t *testing.T, url string, env map[string]string) (Service, string) {
	cfg := config.Config{Providers: map[string]config.Provider{"ours": {BaseURL: url, KeyEnv: "OURS"}}}
	path := filepath.Join(t.TempDir(), "keys.json")
	keep := keyring.Open(path, nil)
	return Service{Find: models.New(cfg, "config.json", func(name string) string { return env[name] }, models.Memory{Keys: keep}), Keep: keep}, path
}

func TestAKeyIsCheckedThenKept(t *testing.T) {
	for name, c := range map[string]struct {
		status   int
		key      string
		o        Options
		kept     bool
		says     string
		wantsAsk bool
	}{
		"taken":               {0, planted, Options{}, true, "", true},
		"copied with more":    {0, " \"Bearer " + planted + "\"\r\n", Options{}, true, "", true},
		"refused":             {0, planted + "x", Options{}, false, "does not take this key", true},
		"refused, unchecked":  {0, planted + "x", Options{Unchecked: true}, true, "", false},
		"no list":             {404, planted, Options{}, true, "does not say", true},
		"server is broken":    {500, planted, Options{}, false, "", true},
		"two lines":           {0, planted + "\n" + planted, Options{}, false, "holds characters", false},
		"nothing":             {0, " \n", Options{}, false, "there is no key", false},
		"far too much":        {0, strings.Repeat("k", maxKey+1), Options{}, false, "too long", false},
		"letters of no key":   {0, "schlüssel-0123456789", Options{}, false, "holds characters", false},
		"a terminal sequence": {0, "\x1b[200~" + planted + "\x1b[201~", Options{}, false, "holds characters", false},
	} {
		url, asked := gate(t, c.status)
		d, path := deskAt(t, url, nil)
		taken, err := d.Take(context.Background(), "ours", c.key, c.o)
		text := strings.Join(taken.Notices, "\n")
		var failed *session.ProviderError
		var mistake *usage.Error
		if err != nil {
			text += err.Error()
			if errors.As(err, &failed) {
				text += failed.Hint
			} else if errors.As(err, &mistake) {
				text += mistake.Hint
			}
		}
		if strings.Contains(text, planted) {
			t.Errorf("%s: the key is shown: %s", name, text)
		}
		if (err == nil) != c.kept || !strings.Contains(text, c.says) || (*asked > 0) != c.wantsAsk {
			t.Errorf("%s: %v, asked %d: %s", name, err, *asked, text)
		}
		e, _ := models.New(config.Config{Providers: map[string]config.Provider{"ours": {BaseURL: url}}}, "", func(string) string { return "" },
			models.Memory{Keys: keyring.Open(path, nil)}).Endpoint("ours")
		if e.InKeyring != c.kept || c.kept && !c.o.Unchecked && e.Key != planted {
			t.Errorf("%s: kept %t, want %t", name, e.InKeyring, c.kept)
		}
	}
}

// A key goes to the host that it was kept for, whatever an address says later.
func TestAKeyGoesToNoOtherHost(t *testing.T) {
	url, _ := gate(t, 0)
	d, path := deskAt(t, url, nil)
	if _, err := d.Take(context.Background(), "ours", planted, Options{}); err != nil {
		t.Fatal(err)
	}
	other := config.Config{Providers: map[string]config.Provider{"ours": {BaseURL: "http://elsewhere.example/v1"}}}
	e, err := models.New(other, "", func(string) string { return "" }, models.Memory{Keys: keyring.Open(path, nil)}).Endpoint("ours")
	if err != nil || e.Key != "" || e.InKeyring {
		t.Errorf("it would be sent to %s", e.DisplayURL())
	}
}

func TestAVariableCountsBeforeAKeyThatIsKept(t *testing.T) {
	url, _ := gate(t, 0)
	d, path := deskAt(t, url, map[string]string{"OURS": "another"})
	taken, err := d.Take(context.Background(), "ours", planted, Options{})
	if err != nil || !strings.Contains(strings.Join(taken.Notices, ""), "OURS is set, and counts before") {
		t.Errorf("%v, %v", taken, err)
	}
	e, err := d.Find.Endpoint("ours")
	if err != nil || e.Key != "another" || e.InKeyring || e.KeySource() != "OURS" {
		t.Errorf("%+v, %v, %s", e.InKeyring, err, path)
	}
}

func TestAKeyOfAnotherProviderIsRefused(t *testing.T) {
	d, _ := deskAt(t, "http://127.0.0.1:1", nil)
	for _, c := range []struct{ provider, key, says string }{
		{"groq", "sk-ant-api03-aaaaaaaaaaaaaaaa", "a key of anthropic"}, {"script", "k", "needs no key"}, {"grok", "k", "did you mean groq"},
	} {
		_, err := d.Take(context.Background(), c.provider, c.key, Options{})
		var none *models.MissingError
		text := ""
		if errors.As(err, &none) {
			text = none.Hint
		}
		if err == nil || !strings.Contains(err.Error()+text, c.says) {
			t.Errorf("%s: %v %s", c.provider, err, text)
		}
	}
}
