package doctor

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"adze/internal/config"
	"adze/internal/llm/models"
)

const plantedKey = "sk-secret-of-the-table-0123456789"

func TestAClockBeforeThisProgramIsTold(t *testing.T) {
	for day, state := range map[string]string{"2019-05-01": Warn, "2026-11-21": OK, "2031-01-01": OK} {
		now, err := time.Parse(time.DateOnly, day)
		if err != nil {
			t.Fatal(err)
		}
		if c := checkClock(now); c.State != state || (c.Mend == "") != (state == OK) {
			t.Errorf("%s: %+v", day, c)
		}
	}
}

// Every company is asked with its own key, and what it says of the key is told without it.
func TestOnlineAsksEveryCompanyWhoseKeyIsSet(t *testing.T) {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		key := r.Header.Get("Authorization") + r.Header.Get("X-Api-Key")
		if r.URL.Path != "/groq/models" || key != "Bearer "+plantedKey {
			w.WriteHeader(http.StatusUnauthorized)
			fmt.Fprintf(w, `{"error":{"message":"%s is no key"}}`, key)
			return
		}
		_, _ = io.WriteString(w, `{"data":[]}`)
	}))
	defer s.Close()
	find := models.New(config.Config{}, "", func(name string) string {
		return map[string]string{"GROQ_API_KEY": plantedKey, "GROQ_BASE_URL": s.URL + "/groq", "MISTRAL_API_KEY": plantedKey, "MISTRAL_BASE_URL": s.URL + "/m"}[name]
	}, models.Memory{})
	var got []string
	for _, c := range checkOnline(context.Background(), find) {
		got = append(got, c.State+" "+c.Finding)
	}
	all := strings.Join(got, "\n")
	if !strings.Contains(all, "ok groq takes GROQ_API_KEY") || !strings.Contains(all, "warn mistral: ") || strings.Contains(all, plantedKey[:14]) || len(got) != 2 {
		t.Errorf("%s", all)
	}
}
