package run_test

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"io"
	"log"
	"math/big"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws/protocol/eventstream"
)

// sky is a proxy behind which one server answers for every host of the clouds.
type sky struct {
	proxy *httptest.Server
	dir   string // has ca.pem, me.pem and me.key

	mu    sync.Mutex
	asked []string // "host path credentials"
	down  string   // a host that is overloaded
}

// fail overloads a host.
func (w *sky) fail(host string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.down = host
}

// last is the newest request that was asked.
func (w *sky) last() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.asked[len(w.asked)-1]
}

// newSky gives a user a proxy to all clouds. Programs of the user are files in its folder bin.
func newSky(t *testing.T, u *user) *sky {
	w := &sky{dir: t.TempDir()}
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	private, _ := x509.MarshalPKCS8PrivateKey(key) // a key of a kind that it knows
	root := &x509.Certificate{SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "a company"}, NotAfter: time.Unix(1<<33, 0), IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign}
	certificate := func(of *x509.Certificate) []byte {
		raw, err := x509.CreateCertificate(rand.Reader, of, root, &key.PublicKey, key)
		if err != nil {
			t.Fatal(err)
		}
		return raw
	}
	leaf := func(host string) []byte {
		return certificate(&x509.Certificate{SerialNumber: big.NewInt(2), DNSNames: []string{host}, NotAfter: time.Unix(1<<33, 0), ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth}})
	}
	for name, block := range map[string]*pem.Block{"ca.pem": {Type: "CERTIFICATE", Bytes: certificate(root)}, "me.pem": {Type: "CERTIFICATE", Bytes: leaf("me")}, "me.key": {Type: "PRIVATE KEY", Bytes: private}} {
		if err := os.WriteFile(filepath.Join(w.dir, name), pem.EncodeToMemory(block), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	pool := x509.NewCertPool()
	signed, _ := x509.ParseCertificate(certificate(root))
	pool.AddCert(signed)
	all := httptest.NewUnstartedServer(w)
	all.Config.ErrorLog = log.New(io.Discard, "", 0)
	all.TLS = &tls.Config{ClientAuth: tls.VerifyClientCertIfGiven, ClientCAs: pool, GetCertificate: func(hello *tls.ClientHelloInfo) (*tls.Certificate, error) {
		return &tls.Certificate{Certificate: [][]byte{leaf(hello.ServerName)}, PrivateKey: key}, nil
	}}
	all.StartTLS()
	t.Cleanup(all.Close)
	w.proxy = httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodConnect {
			w.ServeHTTP(rw, r)
			return
		}
		if user := r.Header.Get("Proxy-Authorization"); user != "" && user != "Basic "+base64.StdEncoding.EncodeToString([]byte("me:p-w")) {
			rw.WriteHeader(http.StatusProxyAuthRequired)
			return
		}
		to, err := net.Dial("tcp", all.Listener.Addr().String())
		if err != nil {
			return
		}
		rw.WriteHeader(http.StatusOK)
		from, begun, err := http.NewResponseController(rw).Hijack()
		if err != nil {
			return
		}
		go func() { _, _ = io.Copy(to, begun); to.Close() }()
		_, _ = io.Copy(from, to)
		from.Close()
	}))
	t.Cleanup(w.proxy.Close)
	u.env = append(u.env, "HTTPS_PROXY="+w.proxy.URL, "SSL_CERT_FILE="+filepath.Join(w.dir, "ca.pem"), "PATH="+filepath.Join(u.own, "bin")+":"+os.Getenv("PATH"))
	return w
}

func awsFrame(kind string, payload string) []byte {
	var out bytes.Buffer
	m := eventstream.Message{Payload: []byte(payload)}
	m.Headers.Set(":message-type", eventstream.StringValue("event"))
	m.Headers.Set(":event-type", eventstream.StringValue(kind))
	if err := eventstream.NewEncoder().Encode(&out, m); err != nil {
		panic(err)
	}
	return out.Bytes()
}

// ServeHTTP answers as the host's cloud.
func (w *sky) ServeHTTP(rw http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	credential := r.Header.Get("Authorization") + r.Header.Get("Api-Key") + r.Header.Get("X-Api-Key")
	if _, signed, ok := strings.Cut(credential, "Credential="); ok {
		credential, _, _ = strings.Cut(signed, ",")
		credential = strings.Replace(credential, time.Now().UTC().Format("20060102"), "TODAY", 1)
	}
	for _, name := range []string{"X-Team", "Cf-Aig-Authorization", "X-Goog-User-Project"} {
		if v := r.Header.Get(name); v != "" {
			credential += " " + v
		}
	}
	if r.TLS != nil && len(r.TLS.PeerCertificates) > 0 {
		credential += " certificate of " + r.TLS.PeerCertificates[0].DNSNames[0]
	}
	w.mu.Lock()
	w.asked = append(w.asked, r.Method+" "+r.Host+r.URL.RequestURI()+" "+credential)
	down := w.down != "" && strings.Contains(r.Host, w.down)
	w.mu.Unlock()
	path := r.URL.Path
	say := func(events ...string) {
		rw.Header().Set("Content-Type", "text/event-stream")
		for _, e := range events {
			fmt.Fprintf(rw, "data: %s\n\n", e)
		}
	}
	messages := []string{`{"type":"message_start","message":{"usage":{"input_tokens":9}}}`, `{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"by messages"}}`,
		`{"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":{"output_tokens":2}}`, `{"type":"message_stop"}`}
	switch {
	case down:
		rw.WriteHeader(http.StatusServiceUnavailable)
		fmt.Fprint(rw, `{"message":"too many connections"}`)
	case strings.HasSuffix(path, "/token"):
		rw.Header().Set("Content-Type", "application/json")
		fmt.Fprint(rw, `{"access_token":"a-token-of-the-sky","expires_in":3600,"token_type":"Bearer"}`)
	case strings.HasSuffix(path, "openid-configuration"):
		_ = json.NewEncoder(rw).Encode(map[string]string{"issuer": "https://login.microsoftonline.com/t/v2.0", "authorization_endpoint": "https://login.microsoftonline.com/t/authorize", "token_endpoint": "https://login.microsoftonline.com/t/token"})
	case strings.HasSuffix(path, "/invoke-with-response-stream"):
		for _, e := range messages {
			_, _ = rw.Write(awsFrame("chunk", `{"bytes":"`+base64.StdEncoding.EncodeToString([]byte(e))+`"}`))
		}
	case strings.HasSuffix(path, "/converse-stream"):
		for _, e := range []string{"messageStart", `{"role":"assistant"}`, "contentBlockDelta", `{"contentBlockIndex":0,"delta":{"text":"by converse"}}`, "contentBlockStop", `{"contentBlockIndex":0}`,
			"messageStop", `{"stopReason":"end_turn"}`, "metadata", `{"usage":{"inputTokens":9,"outputTokens":2}}`} {
			if e[0] != '{' {
				path = e
			} else {
				_, _ = rw.Write(awsFrame(path, e))
			}
		}
	case strings.HasSuffix(path, "/responses"):
		say(`{"type":"response.output_text.delta","item_id":"m","output_index":0,"delta":"by responses"}`, `{"type":"response.completed","response":{"status":"completed"}}`)
	case strings.HasSuffix(path, ":streamGenerateContent"):
		say(`{"candidates":[{"content":{"parts":[{"text":"by gemini"}]},"finishReason":"STOP"}]}`)
	case strings.HasSuffix(path, ":streamRawPredict"), strings.HasSuffix(path, "/messages"):
		say(messages...)
	case strings.HasSuffix(path, "/chat/completions"):
		say(`{"choices":[{"index":0,"delta":{"content":"by chat"},"finish_reason":"stop"}]}`, "[DONE]")
	case path == "/foundation-models" && strings.HasPrefix(credential, "AKLEAST/"):
		rw.WriteHeader(http.StatusForbidden)
		fmt.Fprint(rw, `{"message":"User: arn:aws:iam::1:user/least is not authorized to perform: bedrock:ListFoundationModels"}`)
	case path == "/foundation-models":
		fmt.Fprint(rw, `{"modelSummaries":[{"modelId":"amazon.nova-pro-v1:0","inputModalities":["TEXT","IMAGE"],"inferenceTypesSupported":["ON_DEMAND"]},{"modelId":"anthropic.claude-x","inferenceTypesSupported":["INFERENCE_PROFILE"]}]}`)
	case path == "/inference-profiles":
		fmt.Fprint(rw, `{"inferenceProfileSummaries":[{"inferenceProfileId":"us.anthropic.claude-x","status":"ACTIVE"}]}`)
	case strings.HasSuffix(path, "publishers/google/models"):
		fmt.Fprint(rw, `{"publisherModels":[{"name":"publishers/google/models/gemini-2.5-pro"},{"name":"publishers/google/models/imagen-4"}]}`)
	case strings.HasSuffix(path, "publishers/anthropic/models"):
		fmt.Fprint(rw, `{"publisherModels":[{"name":"publishers/anthropic/models/claude-sonnet-4-5"}]}`)
	case strings.HasSuffix(path, "/models"):
		fmt.Fprint(rw, `{"data":[{"id":"m1"},{"id":"m2"}]}`)
	case path == "/" && strings.HasPrefix(r.Host, "sts."):
		fmt.Fprint(rw, `<AssumeRoleWithWebIdentityResponse xmlns="https://sts.amazonaws.com/doc/2011-06-15/"><AssumeRoleWithWebIdentityResult><Credentials><AccessKeyId>AKROLE</AccessKeyId><SecretAccessKey>s</SecretAccessKey><SessionToken>t</SessionToken><Expiration>2099-01-01T00:00:00Z</Expiration></Credentials></AssumeRoleWithWebIdentityResult></AssumeRoleWithWebIdentityResponse>`)
	case strings.HasPrefix(path, "/container"):
		fmt.Fprint(rw, `{"AccessKeyId":"AKPOD","SecretAccessKey":"s","Token":"t","Expiration":"2099-01-01T00:00:00Z"}`)
	default:
		rw.WriteHeader(http.StatusNotFound)
		fmt.Fprintf(rw, `{"message":"there is no %s"}`, path)
	}
	_ = body
}

// block returns the nth block of code below a heading of docs/models.md.
func block(t *testing.T, heading string, n int) (lines []string) {
	t.Helper()
	page, err := os.ReadFile("../../docs/models.md")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, ok := strings.Cut(string(page), "\n"+heading+"\n")
	rest, _, _ = strings.Cut(rest, "\n#")
	if !ok {
		t.Fatalf("there is no %q", heading)
	}
	var blocks [][]string
	for line := range strings.SplitSeq(rest, "\n") {
		code, is := strings.CutPrefix(line, "    ")
		switch {
		case is && len(lines) == 0:
			blocks = append(blocks, nil)
			fallthrough
		case is:
			lines = append(lines, code)
			blocks[len(blocks)-1] = lines
		default:
			lines = nil
		}
	}
	return blocks[n]
}

// TestTheDocumentSetsUpClouds does what docs/models.md says, word for word, in front of servers with
// the names that real ones have.
func TestTheDocumentSetsUpClouds(t *testing.T) {
	const (
		claude = "model/us.anthropic.claude-sonnet-4-5-20250929-v1%3A0/invoke-with-response-stream "
		us     = "POST bedrock-runtime.us-east-1.amazonaws.com/"
		eu     = "POST bedrock-runtime.eu-central-1.amazonaws.com/model/eu.anthropic.claude-sonnet-4-5-20250929-v1%3A0/invoke-with-response-stream "
		azure  = "POST NAME.openai.azure.com/openai/"
		vertex = "POST aiplatform.googleapis.com/v1/projects/my-project/locations/global/"
	)
	keys := map[string]string{".aws/credentials": "[dev]\naws_access_key_id = AKDEV\naws_secret_access_key = s\n[prod]\naws_access_key_id = AKPROD\naws_secret_access_key = s\n"}
	google := map[string]string{".config/gcloud/application_default_credentials.json": `{"type":"authorized_user","client_id":"c","client_secret":"s","refresh_token":"r"}`}
	vault := map[string]string{"bin/vault": "#!/bin/sh\necho the-key-of-vault\n"}
	gateway := []string{"GATEWAY_TOKEN=token-1", "PROXY_PASSWORD=p-w", "HTTPS_PROXY=", "SSL_CERT_FILE="}
	gone := "POST gateway.example.com/v1/chat/completions?tenant=7 Bearer the-key-of-vault payments Bearer token-1 certificate of me"
	for _, c := range []struct {
		name, heading string
		block         int
		files         map[string]string // in the home
		env, args     []string
		says, asked   string
	}{
		{"bedrock, a profile", "### Amazon Bedrock", 0, keys, nil, nil, "by messages", us + claude + "AKDEV/TODAY/us-east-1/bedrock/aws4_request"},
		{"bedrock, a token", "### Amazon Bedrock", 0, keys, []string{"AWS_BEARER_TOKEN_BEDROCK=bearer-1"}, nil, "by messages", us + claude + "Bearer bearer-1"},
		{"bedrock, keys", "### Amazon Bedrock", 0, keys, []string{"AWS_ACCESS_KEY_ID=AKENV", "AWS_SECRET_ACCESS_KEY=s"}, nil, "by messages", us + claude + "AKENV/TODAY/us-east-1/bedrock/aws4_request"},
		{"bedrock, by converse", "### Amazon Bedrock", 0, keys, nil, []string{"--model", "bedrock/amazon.nova-pro-v1:0"}, "by converse", us + "model/amazon.nova-pro-v1%3A0/converse-stream AKDEV/TODAY/us-east-1/bedrock/aws4_request"},
		{"bedrock, an ARN", "### Amazon Bedrock", 0, keys, nil, []string{"--model", "bedrock/arn:aws:bedrock:eu-west-1:1:inference-profile/eu.anthropic.claude-x"}, "by messages", "POST bedrock-runtime.eu-west-1.amazonaws.com/model/arn%3Aaws%3Abedrock%3Aeu-west-1%3A1%3Ainference-profile%2Feu.anthropic.claude-x/invoke-with-response-stream AKDEV/TODAY/eu-west-1/bedrock/aws4_request"},
		{"bedrock, OpenAI's format", "### Amazon Bedrock", 1, keys, []string{"AWS_PROFILE=dev", "AWS_REGION=us-east-1"}, nil, "by responses", "POST bedrock-mantle.us-east-1.api.aws/v1/responses AKDEV/TODAY/us-east-1/bedrock-mantle/aws4_request"},
		{"vertex", "### Google Vertex", 0, google, nil, nil, "by gemini", vertex + "publishers/google/models/gemini-2.5-pro:streamGenerateContent?alt=sse Bearer a-token-of-the-sky"},
		{"vertex, Claude", "### Google Vertex", 0, google, nil, []string{"--model", "vertex/claude-sonnet-4-5@20250929"}, "by messages", vertex + "publishers/anthropic/models/claude-sonnet-4-5@20250929:streamRawPredict Bearer a-token-of-the-sky"},
		{"azure, a key", "### Azure", 0, nil, nil, nil, "by chat", azure + "v1/chat/completions a-key-of-the-test"},
		{"azure, az login", "### Azure", 0, map[string]string{"bin/az": "#!/bin/sh\necho '{\"accessToken\":\"token-of-az\",\"expires_on\":4102444800}'\n"}, []string{"AZURE_OPENAI_API_KEY=", "AZURE_TOKEN_CREDENTIALS=dev"}, nil, "by chat", azure + "v1/chat/completions Bearer token-of-az"},
		{"azure, a version", "### Azure", 0, nil, []string{"OPENAI_API_VERSION=2024-10-21"}, nil, "by chat", azure + "deployments/DEPLOYMENT/chat/completions?api-version=2024-10-21 a-key-of-the-test"},
		{"a second region", "### A second region or account", 0, keys, []string{"AWS_BEARER_TOKEN_BEDROCK=of-the-first"}, nil, "by messages", eu + "AKPROD/TODAY/eu-central-1/bedrock/aws4_request"},
		{"a gateway", "## Gateways", 0, vault, gateway, []string{"--model", "work/coder"}, "by chat", gone},
		{"another model", "## Another model while a server fails", 0, keys, []string{"AWS_BEARER_TOKEN_BEDROCK=bearer-1", "AWS_REGION=us-east-1", "ANTHROPIC_API_KEY=key-1", "DOWN=bedrock-runtime"}, nil, "this answer is of anthropic/", "POST api.anthropic.com/v1/messages key-1"},
	} {
		t.Run(c.name, func(t *testing.T) {
			u := newUser(t)
			w := newSky(t, u)
			for name, text := range c.files {
				path := filepath.Join(u.own, name)
				if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(path, []byte(text), 0o700); err != nil {
					t.Fatal(err)
				}
			}
			code := block(t, c.heading, c.block)
			var args []string
			for _, line := range code {
				words := strings.Fields(line)
				switch words[0] {
				case "export":
					for _, kv := range words[1:] {
						u.env = append(u.env, strings.ReplaceAll(kv, "…", "a-key-of-the-test"))
					}
				case "adze":
					args = words[1:]
				}
			}
			if code[0][0] == '{' {
				text := strings.NewReplacer("/etc/ssl/company.pem", w.dir+"/ca.pem", "/home/me/", w.dir+"/", "proxy.example.com:3128", strings.TrimPrefix(w.proxy.URL, "http://")).Replace(strings.Join(code, "\n"))
				if c.heading == "## Another model while a server fails" { // its second model is of the section on regions
					text = strings.TrimSuffix(text, "}") + "," + strings.TrimPrefix(block(t, "### A second region or account", 0)[0], "{") + " }"
					text = strings.Replace(text, "}}, }", "}}}", 1)
				}
				u.configure(text)
			}
			u.env = append(u.env, c.env...)
			for _, kv := range c.env {
				if down, ok := strings.CutPrefix(kv, "DOWN="); ok {
					w.fail(down)
				}
			}
			if c.args != nil {
				args = c.args
			}
			u.run(append([]string{"-p", "hi"}, args...)...).wants(0, c.says)
			if slices.ContainsFunc(c.env, func(kv string) bool { return strings.HasPrefix(kv, "DOWN=") }) { // asked again, for what it counts
				u.run("-p", "hi", "--output-format", "json").wants(0, `"usage":{"anthropic/claude-sonnet-4-5":{"input":9,"output":2}},"cost_usd":0.000057,`)
			}
			if last := w.last(); last != c.asked {
				t.Errorf("asked %q\nwant  %q", last, c.asked)
			}
		})
	}
}

func TestAnIdentityThatMayNotListModelsIsFine(t *testing.T) {
	u := newUser(t)
	newSky(t, u)
	u.env = append(u.env, "AWS_ACCESS_KEY_ID=AKLEAST", "AWS_SECRET_ACCESS_KEY=s", "AWS_REGION=us-east-1")
	u.configure(`{"model": "bedrock/anthropic.claude-x"}`)
	u.run("doctor", "--json").wants(0, `{"name":"server","state":"ok"`)
}
