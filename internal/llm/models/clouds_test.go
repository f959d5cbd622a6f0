package models

import (
	"context"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"iter"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"adze/internal/config"
	"adze/session"
)

// finder returns a Finder for settings in JSON and variables, with no home.
func finder(t *testing.T, settings string, env map[string]string, m Memory) *Finder {
	t.Helper()
	cfg, err := config.Parse("config.json", []byte(settings))
	if err != nil {
		t.Fatal(err)
	}
	none := filepath.Join(t.TempDir(), "none")
	return New(cfg, "config.json", func(name string) string {
		if v, ok := env[name]; ok {
			return v
		}
		return map[string]string{"AWS_CONFIG_FILE": none, "AWS_SHARED_CREDENTIALS_FILE": none}[name]
	}, m)
}

// said asks a model "hi" and returns its text, its notices and the end.
func said(t *testing.T, m Model) (text string, notices []string, done session.Done) {
	t.Helper()
	for c := range m.Provider.Stream(t.Context(), session.Request{Model: m.Name, Messages: []session.Message{{ID: "1", Role: session.User, Parts: []session.Part{{Kind: session.TextPart, Text: "hi"}}}}}) {
		switch c := c.(type) {
		case session.Text:
			text += c.Delta
		case session.Mended:
			notices = append(notices, c.Reasons...)
		case session.Done:
			done = c
		}
	}
	return text, notices, done
}

const chatHello = "data: {\"choices\":[],\"prompt_filter_results\":[{\"prompt_index\":0,\"content_filter_results\":{\"hate\":{\"filtered\":false,\"severity\":\"safe\"}}}]}\n\n" +
	"data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"hello\"},\"content_filter_results\":{\"hate\":{\"filtered\":false,\"severity\":\"safe\"}}}]}\n\n" +
	"data: {\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n"

// Each cloud says in one sentence what it lacks, and nothing if it is not used.
func TestWhatACloudLacks(t *testing.T) {
	for settings, want := range map[string]string{
		`{"providers":{"bedrock":{"aws_profile":"dev"}}}`:                                "there is no profile dev in the files of AWS; aws configure list-profiles",
		`{"providers":{"fra":{"cloud":"bedrock"}}}`:                                      "the AWS account has no region; set AWS_REGION or providers.fra.region",
		`{"providers":{"vertex":{"region":"us-east5"}}}`:                                 "vertex has no project; set GOOGLE_CLOUD_PROJECT",
		`{"providers":{"azure":{"cloud":"azure"}}}`:                                      "azure has no address; set AZURE_OPENAI_ENDPOINT",
		`{"providers":{"work":{"base_url":"http://h","headers":{"x":"${NOT_SET}"}}}}`:    "the variable NOT_SET in providers.work.headers.x is not set; set NOT_SET",
		`{"providers":{"work":{"base_url":"http://h","ca_file":"/no/such.pem"}}}`:        "providers.work: ca_file: open /no/such.pem",
		`{"providers":{"work":{"base_url":"http://h","proxy":"http://u:${PASS}@:bad"}}}`: "proxy is no address",
	} {
		f := finder(t, settings, map[string]string{"PASS": "the-password"}, Memory{})
		found := false
		for _, p := range f.KeysOnly().Providers {
			found = found || strings.Contains(p.Reason, want) && !strings.Contains(p.Reason, "the-password")
		}
		if !found {
			t.Errorf("%s: nobody says %q", settings, want)
		}
	}
	for _, p := range finder(t, `{}`, nil, Memory{}).KeysOnly().Providers {
		if slices.Contains([]string{"bedrock", "vertex", "azure"}, p.Provider) {
			t.Errorf("%s is listed", p.Provider)
		}
	}
}

// Azure is asked at its v1 address, or at the older ones by deployment and version; the filter's
// chunks say nothing, and a filtered answer is a refusal.
func TestAzure(t *testing.T) {
	body := chatHello
	var got string
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		got = r.URL.String() + " " + r.Header.Get("Api-Key") + r.Header.Get("Authorization")
		io.WriteString(w, body)
	}))
	defer s.Close()
	for version, want := range map[string]string{
		"":           "/openai/v1/chat/completions the-azure-key",
		"2024-10-21": "/openai/deployments/dep/chat/completions?api-version=2024-10-21 the-azure-key",
	} {
		f := finder(t, `{}`, map[string]string{"AZURE_OPENAI_ENDPOINT": s.URL + "/", "AZURE_OPENAI_API_KEY": "the-azure-key", "OPENAI_API_VERSION": version}, Memory{})
		m, err := f.Named("azure/dep")
		if err != nil {
			t.Fatal(err)
		}
		body = chatHello
		if text, _, done := said(t, m); text != "hello" || done.Err != nil || got != want {
			t.Errorf("%q %v at %s", text, done.Err, got)
		}
		body = strings.Replace(chatHello, `"finish_reason":"stop"`, `"finish_reason":"content_filter"`, 1)
		if _, _, done := said(t, m); done.Stop != session.StopRefused {
			t.Errorf("a filtered answer ended with %v, %v", done.Stop, done.Err)
		}
	}
}

// Vertex takes tokens of a service account, which are renewed once when they are refused.
func TestVertex(t *testing.T) {
	tokens, revoked := 0, ""
	var got []string
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/token" {
			tokens++
			w.Header().Set("Content-Type", "application/json")
			fmt.Fprintf(w, `{"access_token":"google-token-%d","expires_in":3600,"token_type":"Bearer"}`, tokens)
			return
		}
		if r.Header.Get("Authorization") == revoked {
			w.WriteHeader(http.StatusUnauthorized)
			io.WriteString(w, `{"error":{"code":401,"message":"ACCESS_TOKEN_EXPIRED","status":"UNAUTHENTICATED"}}`)
			return
		}
		got = append(got, r.URL.Path+" "+r.Header.Get("Authorization"))
		if strings.Contains(r.URL.Path, "anthropic") {
			io.WriteString(w, "data: {\"type\":\"content_block_delta\",\"index\":0,\"delta\":{\"type\":\"text_delta\",\"text\":\"hello\"}}\n\ndata: {\"type\":\"message_delta\",\"delta\":{\"stop_reason\":\"end_turn\"}}\n\ndata: {\"type\":\"message_stop\"}\n\n")
			return
		}
		io.WriteString(w, "data: {\"candidates\":[{\"content\":{\"parts\":[{\"text\":\"hello\"}]},\"finishReason\":\"STOP\"}]}\n\n")
	}))
	defer s.Close()
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	block := pem.EncodeToMemory(&pem.Block{Type: "RSA PRIVATE KEY", Bytes: x509.MarshalPKCS1PrivateKey(key)})
	raw, _ := json.Marshal(map[string]string{"type": "service_account", "client_email": "a@b", "private_key": string(block), "token_uri": s.URL + "/token"})
	file := filepath.Join(t.TempDir(), "adc.json")
	if err := os.WriteFile(file, raw, 0o600); err != nil {
		t.Fatal(err)
	}
	t.Setenv("GOOGLE_APPLICATION_CREDENTIALS", file)
	f := finder(t, `{"providers":{"vertex":{"project":"p","region":"us-east5","base_url":"`+s.URL+`"}}}`, nil, Memory{})
	for _, name := range []string{"vertex/gemini-2.5-pro", "vertex/claude-sonnet-4-5@20250929", "vertex/gemini-2.5-pro"} {
		m, err := f.Named(name)
		if err != nil {
			t.Fatal(err)
		}
		if text, _, done := said(t, m); text != "hello" || done.Err != nil {
			t.Errorf("%s: %q %v", name, text, done.Err)
		}
		if len(got) == 2 {
			revoked = "Bearer google-token-1"
		}
	}
	want := []string{
		"/v1/projects/p/locations/us-east5/publishers/google/models/gemini-2.5-pro:streamGenerateContent Bearer google-token-1",
		"/v1/projects/p/locations/us-east5/publishers/anthropic/models/claude-sonnet-4-5@20250929:streamRawPredict Bearer google-token-1",
		"/v1/projects/p/locations/us-east5/publishers/google/models/gemini-2.5-pro:streamGenerateContent Bearer google-token-2",
	}
	if !slices.Equal(got, want) || tokens != 2 {
		t.Errorf("%d tokens, %q", tokens, got)
	}
}

// A gateway gets headers, a query and the key of a command, through a proxy with a password.
func TestAGatewayGetsWhatItWants(t *testing.T) {
	var mu sync.Mutex // an unknown server is asked several things at once
	var last, denied string
	keys := 0
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		if r.Header.Get("Authorization") == denied {
			w.WriteHeader(http.StatusUnauthorized)
			io.WriteString(w, `{"error":{"message":"do not know `+denied+`"}}`)
			return
		}
		last = strings.Join([]string{r.URL.String(), r.Header.Get("X-Team"), r.Header.Get("Authorization"), r.Header.Get("Proxy-Authorization")}, " | ")
		io.WriteString(w, chatHello)
	}))
	defer s.Close()
	got := func() string {
		mu.Lock()
		defer mu.Unlock()
		return last
	}
	deny := func(key string) {
		mu.Lock()
		defer mu.Unlock()
		denied = key
	}
	var hidden []string
	f := finder(t, `{"providers":{"work":{"base_url":"http://gateway.example/v1","headers":{"x-team":"a ${TEAM}"},"query":{"tenant":"${TENANT}"},
		"key_command":["get-key","--for","work"],"key_time":"50m","proxy":"http://me:${PASSWORD}@`+strings.TrimPrefix(s.URL, "http://")+`"}}}`,
		map[string]string{"TEAM": "pay", "TENANT": "7", "PASSWORD": "p-w"}, Memory{
			Hide: func(key string) { hidden = append(hidden, key) },
			Run: func(_ context.Context, argv []string) ([]byte, error) {
				if keys++; keys > 2 {
					return nil, errors.New("get-key: locked")
				}
				return fmt.Appendf(nil, "the-printed-key-%d\n", keys), nil
			},
		})
	m, err := f.Named("work/m")
	if err != nil {
		t.Fatal(err)
	}
	auth := "Basic " + base64.StdEncoding.EncodeToString([]byte("me:p-w"))
	want := "http://gateway.example/v1/chat/completions?tenant=7 | a pay | Bearer the-printed-key-%d | " + auth
	for range 2 {
		if text, _, done := said(t, m); text != "hello" || done.Err != nil || got() != fmt.Sprintf(want, 1) || keys != 1 {
			t.Fatalf("%q %v: %s, %d keys", text, done.Err, got(), keys)
		}
	}
	deny("Bearer the-printed-key-1")
	if _, _, done := said(t, m); done.Err != nil || got() != fmt.Sprintf(want, 2) || !slices.Contains(hidden, "the-printed-key-2") {
		t.Errorf("%v: %s, hidden %q", done.Err, got(), hidden)
	}
	deny("Bearer the-printed-key-2")
	_, _, done := said(t, m)
	var failed *session.ProviderError
	if !errors.As(done.Err, &failed) || strings.Contains(done.Err.Error(), "the-printed-key") || !strings.Contains(done.Err.Error(), "get-key: locked") {
		t.Errorf("%v", done.Err)
	}
	for _, name := range []string{"TEAM", "TENANT", "PASSWORD"} {
		if !slices.Contains(KeyNames(f.config), name) {
			t.Errorf("%s stays in the environment", name)
		}
	}
}

// The list gives the reason of a key_command that fails: a login would not help.
func TestAKeyCommandThatFailsIsListed(t *testing.T) {
	s := httptest.NewServer(http.NotFoundHandler())
	defer s.Close()
	f := finder(t, `{"providers":{"work":{"base_url":"`+s.URL+`/v1","key_command":["get-key"]}}}`, nil, Memory{
		Run: func(context.Context, []string) ([]byte, error) { return nil, errors.New("get-key: locked") },
	})
	rows := f.List(t.Context(), true).Providers
	if !slices.ContainsFunc(rows, func(row ListedProvider) bool {
		return row.Provider == "work" && !row.WantsKey && strings.Contains(row.Reason, "get-key: locked")
	}) {
		t.Errorf("the list says %+v", rows)
	}
}

// Another model answers while a server fails, and only then; each change is said once.
func TestAnotherModelAnswersWhileAServerFails(t *testing.T) {
	status, asked := http.StatusServiceUnavailable, 0
	first := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodPost {
			asked++
		}
		if status == http.StatusOK {
			io.WriteString(w, strings.Replace(chatHello, "hello", "first", 1))
			return
		}
		w.WriteHeader(status)
		io.WriteString(w, `{"error":{"message":"not now"}}`)
	}))
	defer first.Close()
	second := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, chatHello) }))
	defer second.Close()
	f := finder(t, `{"fallback":["b/n"],"providers":{"a":{"base_url":"`+first.URL+`/v1"},"b":{"base_url":"`+second.URL+`/v1"}}}`, nil, Memory{})
	m, err := f.Named("a/m")
	if err != nil {
		t.Fatal(err)
	}
	p := m.Provider.(*fallback)
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	p.now = func() time.Time { return now }
	step := func(text string, notices int, requests int) {
		t.Helper()
		got, told, done := said(t, m)
		if by := done.Provider + "/" + done.Model; text == "hello" && by != "b/n" || text == "first" && by != "/" {
			t.Errorf("%q was answered by %s", text, by)
		}
		if got != text || len(told) != notices || asked != requests || text != "" && done.Err != nil {
			t.Fatalf("%q, %q, %d requests, %v", got, told, asked, done.Err)
		}
	}
	step("hello", 1, 1) // the second one, and it is said
	step("hello", 0, 1) // for a while the first one is not asked
	now = now.Add(fallbackTime)
	status = http.StatusOK
	step("first", 1, 2)
	for _, status = range []int{http.StatusBadRequest, http.StatusUnauthorized, http.StatusNotFound} {
		before := asked
		if got, told, done := said(t, m); got != "" || len(told) > 0 || done.Err == nil || asked == before {
			t.Errorf("status %d: %q %q %v", status, got, told, done.Err)
		}
	}
}

// scripted is a provider that yields the same chunks each time.
type scripted []session.Chunk

func (scripted) Name() string { return "b" }

func (s scripted) Stream(context.Context, session.Request) iter.Seq[session.Chunk] {
	return slices.Values(s)
}

// The user reads what another model's server refused; the chosen model still gets it.
func TestAnotherModelsServerRefusesAPart(t *testing.T) {
	down := scripted{session.Done{Err: &session.ProviderError{Kind: session.ServerError, Message: "overloaded"}}}
	other := scripted{session.Mended{Reasons: []string{"it takes no images"}, Messages: []string{"1"}}, session.Text{Delta: "hello"}, session.Done{}}
	p := &fallback{Provider: down, others: []Model{{Provider: other, Name: "n"}}, now: time.Now, until: make([]time.Time, 2)}
	var mended []session.Mended
	for c := range p.Stream(t.Context(), session.Request{Model: "m"}) {
		if m, is := c.(session.Mended); is {
			mended = append(mended, m)
		}
	}
	if len(mended) != 1 || len(mended[0].Reasons) != 2 || mended[0].Reasons[1] != "it takes no images" || mended[0].Messages != nil {
		t.Errorf("said: %+v", mended)
	}
}
