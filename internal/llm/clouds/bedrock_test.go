package clouds_test

import (
	"bytes"
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws/protocol/eventstream"

	"adze/internal/llm/anthropic"
	"adze/internal/llm/clouds"
	"adze/internal/llm/wire"
	"adze/session"
	"adze/tool"
)

// machine is an environment without a home.
type machine struct {
	vars  map[string]string
	now   time.Time
	ran   [][]string
	out   string
	fails error
	hid   []string
}

func (m *machine) env() clouds.Env {
	return clouds.Env{
		Getenv: func(name string) string { return m.vars[name] }, Now: func() time.Time { return m.now },
		Hide: func(s string) { m.hid = append(m.hid, s) },
		Run: func(_ context.Context, argv []string) ([]byte, error) {
			m.ran = append(m.ran, argv)
			return []byte(m.out), m.fails
		},
	}
}

func newMachine(t *testing.T, settings, keys string) *machine {
	t.Helper()
	dir := t.TempDir()
	m := &machine{now: time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC), vars: map[string]string{
		"AWS_CONFIG_FILE": filepath.Join(dir, "config"), "AWS_SHARED_CREDENTIALS_FILE": filepath.Join(dir, "credentials"),
	}}
	for name, text := range map[string]string{"config": settings, "credentials": keys} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return m
}

func frame(headers map[string]string, payload string) []byte {
	var out bytes.Buffer
	m := eventstream.Message{Payload: []byte(payload)}
	for _, name := range slices.Sorted(maps.Keys(headers)) {
		m.Headers.Set(name, eventstream.StringValue(headers[name]))
	}
	if err := eventstream.NewEncoder().Encode(&out, m); err != nil {
		panic(err)
	}
	return out.Bytes()
}

func event(kind, payload string) []byte {
	return frame(map[string]string{":message-type": "event", ":event-type": kind}, payload)
}

func chunk(data string) []byte {
	return event("chunk", `{"bytes":"`+base64.StdEncoding.EncodeToString([]byte(data))+`"}`)
}

func exception(kind, message string) []byte {
	return frame(map[string]string{":message-type": "exception", ":exception-type": kind}, `{"message":"`+message+`"}`)
}

func hello() []byte {
	return bytes.Join([][]byte{
		chunk(`{"type":"message_start","message":{"usage":{"input_tokens":9}}}`),
		chunk(`{"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}`),
		chunk(`{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"hello"}}`),
		chunk(`{"type":"content_block_stop","index":0}`),
		chunk(`{"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":{"output_tokens":2}}`),
		chunk(`{"type":"message_stop"}`),
	}, nil)
}

func converseHello() []byte {
	return bytes.Join([][]byte{
		event("messageStart", `{"role":"assistant"}`),
		event("contentBlockDelta", `{"contentBlockIndex":0,"delta":{"reasoningContent":{"text":"hm"}}}`),
		event("contentBlockStop", `{"contentBlockIndex":0}`),
		event("contentBlockDelta", `{"contentBlockIndex":1,"delta":{"text":"hello"}}`),
		event("contentBlockStop", `{"contentBlockIndex":1}`),
		event("contentBlockStart", `{"contentBlockIndex":2,"start":{"toolUse":{"toolUseId":"t1","name":"read"}}}`),
		event("contentBlockDelta", `{"contentBlockIndex":2,"delta":{"toolUse":{"input":"{\"path\":"}}}`),
		event("contentBlockDelta", `{"contentBlockIndex":2,"delta":{"toolUse":{"input":"\"a\"}"}}}`),
		event("contentBlockStop", `{"contentBlockIndex":2}`),
		event("messageStop", `{"stopReason":"tool_use"}`),
		event("metadata", `{"usage":{"inputTokens":9,"outputTokens":2,"totalTokens":11},"metrics":{"latencyMs":1}}`),
	}, nil)
}

// canned answers each request with the bytes that it points to.
type canned struct{ body *[]byte }

// RoundTrip implements http.RoundTripper.
func (c canned) RoundTrip(*http.Request) (*http.Response, error) {
	return &http.Response{StatusCode: http.StatusOK, Header: http.Header{}, Body: io.NopCloser(bytes.NewReader(*c.body))}, nil
}

// ask makes one request to Bedrock at a server.
func ask(t *testing.T, server string, m *machine, model, format, key string) (text string, calls []session.Call, done session.Done) {
	t.Helper()
	return askBy(t, nil, server, m, model, format, key)
}

func askBy(t *testing.T, client *http.Client, server string, m *machine, model, format, key string) (text string, calls []session.Call, done session.Done) {
	t.Helper()
	d := clouds.Bedrock(clouds.NewAWS(m.env(), ""), key, "eu-central-1", "", format)
	p := anthropic.New(anthropic.Options{Name: "bedrock", BaseURL: server, Door: &d, HTTP: client})
	for c := range p.Stream(t.Context(), session.Request{Model: model, System: "s", Messages: []session.Message{{ID: "1", Role: session.User, Parts: []session.Part{{Kind: session.TextPart, Text: "hi"}}}}}) {
		switch c := c.(type) {
		case session.Text:
			text += c.Delta
		case session.Call:
			calls = append(calls, c)
		case session.Done:
			done = c
		}
	}
	return text, calls, done
}

func serve(t *testing.T, answer func(w http.ResponseWriter, r *http.Request, body []byte)) string {
	t.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		answer(w, r, body)
	}))
	t.Cleanup(s.Close)
	return s.URL
}

// A request to a model is signed for its region; names with colons and slashes keep their form.
func TestRequestsAreSigned(t *testing.T) {
	for _, model := range []string{"anthropic.claude-3-haiku-20240307-v1:0", "arn:aws:bedrock:eu-central-1:123456789012:inference-profile/eu.anthropic.claude-x"} {
		m := newMachine(t, "", "[default]\naws_access_key_id = AKID\naws_secret_access_key = s/cr+et\naws_session_token=tok\n")
		var wrong, path string
		url := serve(t, func(w http.ResponseWriter, r *http.Request, body []byte) {
			wrong, path = verify(r, body, "AKID", "s/cr+et", "eu-central-1", "bedrock", m.now), r.URL.EscapedPath()
			if other := verify(r, append(body, ' '), "AKID", "s/cr+et", "eu-central-1", "bedrock", m.now); other == "" {
				t.Error("another body has the same signature")
			}
			if r.Header.Get("X-Amz-Security-Token") != "tok" {
				t.Error("the session's token is missing")
			}
			_, _ = w.Write(hello())
		})
		text, _, done := ask(t, url, m, model, clouds.Invoke, "")
		if wrong != "" || text != "hello" || done.Err != nil || done.Usage.Input != 9 {
			t.Errorf("%s: %q, %q, %v", model, wrong, text, done)
		}
		if strings.Contains(path, ":") || strings.Count(path, "/") != 3 {
			t.Errorf("the path is %s", path)
		}
	}
}

// Credentials that ended are renewed once, and each attempt is signed anew.
func TestExpiredCredentialsAreRenewedOnce(t *testing.T) {
	m := newMachine(t, "[profile dev]\nregion = eu-central-1\ncredential_process = \"/opt/my tool\" --json 'a b'\n", "")
	m.vars["AWS_PROFILE"] = "dev"
	m.out = `{"Version":1,"AccessKeyId":"AKID","SecretAccessKey":"secret-1"}`
	refuse := 1
	var signatures []string
	url := serve(t, func(w http.ResponseWriter, r *http.Request, body []byte) {
		signatures = append(signatures, r.Header.Get("Authorization"))
		if len(signatures) <= refuse {
			m.out, m.now = strings.Replace(m.out, "secret-1", "secret-2", 1), m.now.Add(time.Second)
			w.WriteHeader(http.StatusForbidden)
			fmt.Fprint(w, `{"message":"The security token included in the request is expired"}`)
			return
		}
		if wrong := verify(r, body, "AKID", "secret-2", "eu-central-1", "bedrock", m.now); wrong != "" {
			t.Error(wrong)
		}
		_, _ = w.Write(hello())
	})
	if text, _, done := ask(t, url, m, "anthropic.claude-x", clouds.Invoke, ""); text != "hello" || done.Err != nil || len(m.ran) != 2 || signatures[0] == signatures[1] {
		t.Errorf("%q, %v, %q", text, done.Err, m.ran)
	}
	if got := fmt.Sprintf("%q", m.ran[0]); got != `["/opt/my tool" "--json" "a b"]` {
		t.Error(got)
	}
	refuse, signatures = 5, nil
	_, _, done := ask(t, url, m, "anthropic.claude-x", clouds.Invoke, "")
	var failed *session.ProviderError
	if !errors.As(done.Err, &failed) || failed.Kind != session.AuthError || len(signatures) != 2 {
		t.Errorf("%v after %d requests", done.Err, len(signatures))
	}
}

// The aws program signs in where the files hold no keys; its failure has a next step.
func TestTheAWSProgramSignsIn(t *testing.T) {
	m := newMachine(t, "[profile dev]\nsso_session = corp\nregion=us-west-2\n[sso-session corp]\nsso_region=x\n", "")
	m.vars["AWS_PROFILE"] = "dev"
	account := clouds.NewAWS(m.env(), "")
	if account.Region() != "us-west-2" || account.Missing() != "" {
		t.Error(account.Region(), account.Missing())
	}
	m.fails = errors.New("aws: The SSO session has expired")
	_, err := account.Credentials(t.Context())
	var failed *session.ProviderError
	if !errors.As(err, &failed) || !strings.Contains(failed.Message, "has expired") || !strings.Contains(failed.Hint, "aws sso login --profile dev") {
		t.Errorf("%#v", err)
	}
	m.fails, m.out = nil, `{"Version":1,"AccessKeyId":"A","SecretAccessKey":"secret-1","SessionToken":"t","Expiration":"2026-11-30T13:00:00Z"}`
	for _, at := range []struct {
		minutes int
		ran     int
	}{{0, 2}, {54, 2}, {56, 3}} {
		m.now = time.Date(2026, 11, 30, 12, at.minutes, 0, 0, time.UTC)
		if _, err := account.Credentials(t.Context()); err != nil || len(m.ran) != at.ran {
			t.Errorf("at minute %d: %v after %d programs", at.minutes, err, len(m.ran))
		}
	}
	if len(m.hid) == 0 {
		t.Error("nothing is hidden")
	}
	m.vars["AWS_PROFILE"] = "prod"
	if got := clouds.NewAWS(m.env(), "").Missing(); !strings.Contains(got, "no profile prod") {
		t.Error(got)
	}
}

// Exceptions inside a stream end it with their kinds.
func TestExceptionsInAStreamAreTyped(t *testing.T) {
	m := newMachine(t, "", "")
	for kind, want := range map[string]session.ErrorKind{
		"throttlingException": session.RateError, "modelStreamErrorException": session.ServerError, "internalServerException": session.ServerError,
		"serviceUnavailableException": session.ServerError, "validationException": session.RequestError, "accessDeniedException": session.AuthError,
	} {
		url := serve(t, func(w http.ResponseWriter, r *http.Request, _ []byte) {
			if r.Header.Get("Authorization") != "Bearer the-bearer-token" {
				t.Error("no bearer token")
			}
			_, _ = w.Write(append(hello()[:len(hello())-len(chunk(`{"type":"message_stop"}`))], exception(kind, "no more")...))
		})
		_, _, done := ask(t, url, m, "anthropic.claude-x", clouds.Invoke, "the-bearer-token")
		var failed *session.ProviderError
		if !errors.As(done.Err, &failed) || failed.Kind != want || !strings.Contains(failed.Message, "no more") {
			t.Errorf("%s: %v", kind, done.Err)
		}
	}
}

// A stream that is cut or damaged anywhere is no answer.
func TestCutAndDamagedFrames(t *testing.T) {
	m := newMachine(t, "", "")
	for format, whole := range map[string][]byte{clouds.Invoke: hello(), clouds.Converse: converseHello()} {
		var body []byte
		read := func() (string, []session.Call, session.Done) {
			return askBy(t, &http.Client{Transport: canned{&body}}, "http://bedrock.example", m, "m", format, "the-bearer-token")
		}
		body = whole
		want, calls, done := read()
		if want != "hello" || done.Err != nil || done.Usage.Input != 9 || (format == clouds.Converse) != (len(calls) == 1 && calls[0].Arguments == `{"path":"a"}`) {
			t.Errorf("%s: %q %v %v", format, want, calls, done)
		}
		terminal := bytes.LastIndex(whole, []byte("chunk"))
		if format == clouds.Converse {
			terminal = bytes.Index(whole, []byte("messageStop"))
		}
		for n := range whole {
			body = whole[:n]
			if _, got, done := read(); n < terminal && (done.Err == nil || len(got) > 0) {
				t.Fatalf("%s: cut at %d, it is an answer: %v", format, n, done)
			}
		}
		for n := range whole {
			body = bytes.Clone(whole)
			body[n] ^= 0x20
			if _, _, done := read(); done.Err == nil && n < terminal {
				t.Fatalf("%s: damaged at %d, it is an answer", format, n)
			}
		}
	}
}

// A signature holds for one region and one of Amazon's two services.
func TestEachRegionAndServiceIsSignedFor(t *testing.T) {
	m := newMachine(t, "", "[default]\naws_access_key_id = AKID\naws_secret_access_key = secret\n")
	for _, c := range []struct{ region, host, service string }{
		{"eu-central-1", "bedrock-runtime.eu-central-1.amazonaws.com", "bedrock"},
		{"us-east-2", "bedrock-runtime.us-east-2.amazonaws.com", "bedrock"},
		{"us-east-2", "bedrock-mantle.us-east-2.api.aws", "bedrock-mantle"},
	} {
		d := clouds.Bedrock(clouds.NewAWS(m.env(), ""), "", c.region, c.host, clouds.OpenAI)
		body := &wire.Body{}
		body.Add([]byte("{}"))
		r, err := http.NewRequest(http.MethodPost, "https://"+c.host+"/openai/v1/responses", body.Reader())
		if err != nil {
			t.Fatal(err)
		}
		r.ContentLength = 2
		if err := d.Sign(t.Context(), r, body); err != nil {
			t.Fatal(err)
		}
		if wrong := verify(r, []byte("{}"), "AKID", "secret", c.region, c.service, m.now); wrong != "" {
			t.Errorf("%s: %s", c.host, wrong)
		}
		if verify(r, []byte("{}"), "AKID", "secret", "eu-west-3", c.service, m.now) == "" {
			t.Errorf("%s: the signature holds in another region", c.host)
		}
	}
}

// An identity that may not use a model is told what it may not, and asked nothing twice.
func TestAnIdentityMayNotUseAModel(t *testing.T) {
	asked := 0
	url := serve(t, func(w http.ResponseWriter, _ *http.Request, _ []byte) {
		asked++
		w.Header().Set("X-Amzn-Errortype", "AccessDeniedException")
		w.WriteHeader(http.StatusForbidden)
		_, _ = io.WriteString(w, `{"message":"User: arn:aws:iam::123456789012:user/dev is not authorized to perform: bedrock:InvokeModelWithResponseStream"}`)
	})
	m := newMachine(t, "", "[default]\naws_access_key_id = AKID\naws_secret_access_key = secret\n")
	_, _, done := ask(t, url, m, "anthropic.claude-x", clouds.Invoke, "")
	var failed *session.ProviderError
	if !errors.As(done.Err, &failed) || failed.Kind != session.AuthError || !strings.Contains(failed.Error(), "not authorized to perform: bedrock:InvokeModelWithResponseStream") || asked != 1 {
		t.Errorf("%v, asked %d times", done.Err, asked)
	}
}

// Marks for the cache reach the models that take them, and what the cache saved is counted.
func TestCachePointsOfConverse(t *testing.T) {
	for model, want := range map[string]int{"us.anthropic.claude-x": 3, "amazon.nova-pro-v1:0": 2, "meta.llama4-maverick-17b-instruct-v1:0": 0} {
		var sent string
		url := serve(t, func(w http.ResponseWriter, _ *http.Request, body []byte) {
			sent = string(body)
			_, _ = w.Write(bytes.Replace(converseHello(), event("metadata", `{"usage":{"inputTokens":9,"outputTokens":2,"totalTokens":11},"metrics":{"latencyMs":1}}`),
				event("metadata", `{"usage":{"inputTokens":9,"outputTokens":2,"totalTokens":341,"cacheReadInputTokens":300,"cacheWriteInputTokens":30}}`), 1))
		})
		d := clouds.Bedrock(clouds.NewAWS(newMachine(t, "", "").env(), ""), "the-bearer-token", "us-east-1", "", clouds.Converse)
		p := anthropic.New(anthropic.Options{Name: "bedrock", BaseURL: url, Door: &d})
		var done session.Done
		for c := range p.Stream(t.Context(), session.Request{Model: model, System: "s", Tools: []tool.Definition{{Name: "read", Parameters: []byte(`{"type":"object"}`)}},
			Messages: []session.Message{{ID: "1", Role: session.User, Parts: []session.Part{{Kind: session.TextPart, Text: "hi"}}}}}) {
			if end, ok := c.(session.Done); ok {
				done = end
			}
		}
		if got := strings.Count(sent, `"cachePoint"`); got != want || done.Err != nil || done.Usage != (session.Usage{Input: 9, Output: 2, CacheRead: 300, CacheWrite: 30}) {
			t.Errorf("%s: %d marks, %+v, %v in %s", model, got, done.Usage, done.Err, sent)
		}
	}
}

// Clusters, containers and instances give credentials without any program.
func TestMachinesSignIn(t *testing.T) {
	keys := `{"Code":"Success","AccessKeyId":"AKPOD","SecretAccessKey":"s","Token":"t","Expiration":"2099-01-01T00:00:00Z"}`
	url := serve(t, func(w http.ResponseWriter, r *http.Request, body []byte) {
		switch {
		case strings.Contains(string(body), "Action=AssumeRoleWithWebIdentity") && strings.Contains(string(body), "WebIdentityToken=jwt"):
			_, _ = io.WriteString(w, `<AssumeRoleWithWebIdentityResponse xmlns="https://sts.amazonaws.com/doc/2011-06-15/"><AssumeRoleWithWebIdentityResult><Credentials>
				<AccessKeyId>AKROLE</AccessKeyId><SecretAccessKey>s</SecretAccessKey><SessionToken>t</SessionToken><Expiration>2099-01-01T00:00:00Z</Expiration></Credentials></AssumeRoleWithWebIdentityResult></AssumeRoleWithWebIdentityResponse>`)
		case len(body) > 0:
			w.WriteHeader(http.StatusBadRequest)
			_, _ = io.WriteString(w, `<ErrorResponse><Error><Code>ExpiredTokenException</Code><Message>Token expired</Message></Error></ErrorResponse>`)
		case r.URL.Path == "/latest/api/token":
			w.Header().Set("X-Aws-Ec2-Metadata-Token-Ttl-Seconds", "60")
			_, _ = io.WriteString(w, "token")
		case strings.HasSuffix(r.URL.Path, "/security-credentials/"):
			_, _ = io.WriteString(w, "role")
		case strings.HasSuffix(r.URL.Path, "/role"), r.Header.Get("Authorization") == "of-the-file":
			_, _ = io.WriteString(w, keys)
		default:
			w.WriteHeader(http.StatusForbidden)
		}
	})
	file := func(text string) string {
		path := filepath.Join(t.TempDir(), "token")
		if err := os.WriteFile(path, []byte(text+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	for name, c := range map[string]struct {
		vars map[string]string
		id   string
		says string
	}{
		"a web identity":       {map[string]string{"AWS_ROLE_ARN": "arn:r", "AWS_WEB_IDENTITY_TOKEN_FILE": file("jwt"), "AWS_ENDPOINT_URL_STS": url}, "AKROLE", ""},
		"an old identity":      {map[string]string{"AWS_ROLE_ARN": "arn:r", "AWS_WEB_IDENTITY_TOKEN_FILE": file("old"), "AWS_ENDPOINT_URL_STS": url}, "", "the role arn:r was not given: Token expired"},
		"a container":          {map[string]string{"AWS_CONTAINER_CREDENTIALS_FULL_URI": url + "/c", "AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE": file("of-the-file")}, "AKPOD", ""},
		"a container far away": {map[string]string{"AWS_CONTAINER_CREDENTIALS_FULL_URI": "http://container.example/c"}, "", "neither https nor on this machine"},
		"an instance":          {map[string]string{"AWS_EC2_METADATA_SERVICE_ENDPOINT": url}, "AKPOD", ""},
		"nothing":              {map[string]string{"AWS_EC2_METADATA_DISABLED": "true"}, "", "there are no credentials of AWS"},
	} {
		m := newMachine(t, "", "")
		m.fails = exec.ErrNotFound
		for name, value := range c.vars {
			m.vars[name] = value
		}
		got, err := clouds.NewAWS(m.env(), "").Credentials(t.Context())
		if c.says != "" && (err == nil || !strings.Contains(err.Error(), c.says)) || c.says == "" && (err != nil || got.AccessKeyID != c.id || got.Expires.IsZero() || got.SessionToken != "t") {
			t.Errorf("%s: %+v, %v", name, got.AccessKeyID, err)
		}
	}
	m := newMachine(t, "[profile dev]\nsso_session = corp\n", "")
	m.vars["AWS_PROFILE"], m.fails = "dev", exec.ErrNotFound
	if _, err := clouds.NewAWS(m.env(), "").Credentials(t.Context()); err == nil || !strings.Contains(err.Error(), "profile dev signs in by SSO or a role, for which the program aws (version 2) is needed") {
		t.Error(err)
	}
}
