package clouds

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	v4 "github.com/aws/aws-sdk-go-v2/aws/signer/v4"

	"adze/internal/llm/wire"
)

// An AWS is a user's account at Amazon: a profile, or what variables hold.
type AWS struct {
	env     Env
	profile string // chosen by the configuration or AWS_PROFILE; may be empty
	settings,
	keys map[string]string // of the profile, in the files config and credentials
	exists bool
	tokens *Tokens

	mu   sync.Mutex
	held aws.Credentials
}

// NewAWS reads a profile's files; profile may be empty.
func NewAWS(env Env, profile string) *AWS {
	if profile == "" {
		profile = env.Getenv("AWS_PROFILE")
	}
	a := &AWS{env: env, profile: profile}
	name := profile
	if name == "" {
		name = "default"
	}
	file := func(variable, usual string) string {
		if path := env.Getenv(variable); path != "" {
			return path
		}
		home := env.Getenv("HOME")
		if home == "" {
			home = env.Getenv("USERPROFILE")
		}
		return filepath.Join(home, ".aws", usual)
	}
	var inSettings, inKeys bool
	a.settings, inSettings = section(file("AWS_CONFIG_FILE", "config"), "profile "+name, name)
	a.keys, inKeys = section(file("AWS_SHARED_CREDENTIALS_FILE", "credentials"), name, name)
	a.exists = inSettings || inKeys
	a.tokens = NewTokens(env, "cannot sign in to AWS", a.fetch)
	return a
}

// Region returns the region of the variables or the profile, or "".
func (a *AWS) Region() string {
	for _, name := range []string{"AWS_REGION", "AWS_DEFAULT_REGION"} {
		if region := a.env.Getenv(name); region != "" {
			return region
		}
	}
	return a.settings["region"]
}

// Name says where credentials come from, for messages.
func (a *AWS) Name() string {
	if a.profile == "" {
		return "the AWS account"
	}
	return "profile " + a.profile
}

// Missing returns why the chosen profile cannot be used, or "".
func (a *AWS) Missing() string {
	if a.profile != "" && !a.exists {
		return "there is no profile " + a.profile + " in the files of AWS"
	}
	return ""
}

// section reads a section of a file of AWS; the file may be missing. A name that begins with
// "profile " stands so in the file, except default.
func section(path, heading, plain string) (values map[string]string, found bool) {
	raw, err := os.ReadFile(path)
	if err != nil {
		return nil, false
	}
	values, in := map[string]string{}, false
	for line := range strings.Lines(string(raw)) {
		indented := strings.HasPrefix(line, " ") || strings.HasPrefix(line, "\t")
		line = strings.TrimSpace(line)
		switch name, value, has := strings.Cut(line, "="); {
		case line == "" || line[0] == '#' || line[0] == ';':
		case line[0] == '[':
			name := strings.Join(strings.Fields(strings.Trim(line, "[] \t")), " ")
			in = name == heading || plain == "default" && name == plain
			found = found || in
		case in && has && !indented: // indented ones belong to a nested setting
			value, _, _ = strings.Cut(value, " #")
			values[strings.ToLower(strings.TrimSpace(name))] = strings.TrimSpace(value)
		}
	}
	return values, found
}

// Credentials returns credentials that are valid for a while.
func (a *AWS) Credentials(ctx context.Context) (aws.Credentials, error) {
	if _, err := a.tokens.Get(ctx); err != nil {
		return aws.Credentials{}, err
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.held, nil
}

// fetch follows the order of Amazon's own modules.
func (a *AWS) fetch(ctx context.Context) (Token, error) {
	c, err := a.find(ctx)
	if err != nil {
		return Token{}, err
	}
	if c.SessionToken != "" {
		a.env.Hide(c.SessionToken)
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.held = c
	return Token{c.SecretAccessKey, c.Expires}, nil
}

func (a *AWS) find(ctx context.Context) (aws.Credentials, error) {
	get := a.env.Getenv
	if id := get("AWS_ACCESS_KEY_ID"); id != "" && (a.profile == "" || a.profile == get("AWS_PROFILE")) {
		return aws.Credentials{AccessKeyID: id, SecretAccessKey: get("AWS_SECRET_ACCESS_KEY"), SessionToken: get("AWS_SESSION_TOKEN")}, nil
	}
	if why := a.Missing(); why != "" {
		return aws.Credentials{}, hinted{errors.New(why), "aws configure list-profiles shows them; choose one with AWS_PROFILE"}
	}
	for _, of := range []map[string]string{a.keys, a.settings} {
		if id := of["aws_access_key_id"]; id != "" && a.settings["role_arn"] == "" {
			return aws.Credentials{AccessKeyID: id, SecretAccessKey: of["aws_secret_access_key"], SessionToken: of["aws_session_token"]}, nil
		}
	}
	if line := a.settings["credential_process"]; line != "" {
		return a.printed(ctx, shell(line), "check credential_process of "+a.Name())
	}
	if c, ok, err := a.given(ctx); ok {
		return c, err
	}
	argv, login := []string{"aws", "configure", "export-credentials", "--format", "process"}, "aws sso login"
	if a.profile != "" {
		argv, login = append(argv, "--profile", a.profile), login+" --profile "+a.profile
	}
	c, err := a.printed(ctx, argv, login+" signs in again")
	if !errors.Is(err, exec.ErrNotFound) {
		return c, err
	}
	const keys = "set AWS_BEARER_TOKEN_BEDROCK, or AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY"
	if len(a.settings) > 0 && a.settings["role_arn"]+a.settings["sso_session"]+a.settings["sso_start_url"] != "" {
		return c, hinted{errors.New(a.Name() + " signs in by SSO or a role, for which the program aws (version 2) is needed"), "install it and run " + login + ", or " + keys}
	}
	if c, err = a.instance(ctx); err == nil {
		return c, nil
	}
	return c, hinted{errors.New("there are no credentials of AWS"), keys + ", or name a profile with AWS_PROFILE"}
}

// printed runs a program that prints credentials in the form of credential_process.
func (a *AWS) printed(ctx context.Context, argv []string, hint string) (aws.Credentials, error) {
	out, err := a.env.Run(ctx, argv)
	if err != nil {
		return aws.Credentials{}, hinted{err, hint}
	}
	var c struct {
		AccessKeyID     string    `json:"AccessKeyId"`
		SecretAccessKey string    `json:"SecretAccessKey"`
		SessionToken    string    `json:"SessionToken"`
		Expiration      time.Time `json:"Expiration"`
	}
	if json.Unmarshal(out, &c) != nil || c.AccessKeyID == "" || c.SecretAccessKey == "" {
		return aws.Credentials{}, hinted{fmt.Errorf("%s printed no credentials", argv[0]), hint}
	}
	return aws.Credentials{AccessKeyID: c.AccessKeyID, SecretAccessKey: c.SecretAccessKey, SessionToken: c.SessionToken, CanExpire: !c.Expiration.IsZero(), Expires: c.Expiration}, nil
}

// BedrockHost returns the address of Bedrock in a region.
func BedrockHost(region string) string { return host("bedrock-runtime", region) }

// BedrockLists returns the addresses of the models and of the inference profiles in a region.
func BedrockLists(region string) []string {
	base := host("bedrock", region)
	return []string{base + "/foundation-models?byOutputModality=TEXT", base + "/inference-profiles?maxResults=1000"}
}

// host returns the address of one of Amazon's services.
func host(service, region string) string {
	at := "https://" + service + "." + region + ".amazonaws.com"
	if strings.HasPrefix(region, "cn-") {
		at += ".cn"
	}
	return at
}

// OpenAIPath returns the path of OpenAI's formats at a host of Bedrock.
func OpenAIPath(host string) string {
	if strings.HasPrefix(host, "bedrock-mantle.") {
		return "/v1"
	}
	return "/openai/v1"
}

// RegionOf returns the region in an ARN, or "".
func RegionOf(model string) string {
	if parts := strings.SplitN(model, ":", 5); len(parts) == 5 && parts[0] == "arn" {
		return parts[3]
	}
	return ""
}

// Formats at Bedrock.
const (
	Invoke   = "messages" // the Messages format, for Claude
	Converse = "converse" // for any model
	OpenAI   = "chat"     // or "responses"
)

// Bedrock returns the door to a model at Bedrock in one of its formats. key is a bearer token; if
// empty, requests are signed.
func Bedrock(a *AWS, key, region, host, format string) wire.Door {
	d := Key("Authorization", "Bearer ", key)
	if key == "" {
		service := "bedrock"
		if strings.HasPrefix(host, "bedrock-mantle.") {
			service = "bedrock-mantle"
		}
		d = wire.Door{Renew: a.tokens.Forget, Secret: a.tokens.last, Sign: a.signer(service, region)}
	}
	switch format {
	case Invoke:
		d.Version, d.Unstreamed = "bedrock-2023-05-31", true
		d.Path = func(model, _ string) string { return modelPath(model, "/invoke-with-response-stream") }
		d.Read = func(r io.Reader) io.Reader { return newFrames(r, invoked) }
	case Converse:
		d.Body = toConverse
		d.Path = func(model, _ string) string { return modelPath(model, "/converse-stream") }
		d.Read = func(r io.Reader) io.Reader { return newFrames(r, (&converse{}).event) }
	}
	return d
}

// modelPath returns the path of a model; an ARN's colons and slashes are escaped.
func modelPath(model, end string) string {
	return "/model/" + strings.ReplaceAll(url.PathEscape(model), ":", "%3A") + end
}

// signer returns a function that signs one attempt of a request, with the time of that attempt.
func (a *AWS) signer(service, region string) func(context.Context, *http.Request, *wire.Body) error {
	return func(ctx context.Context, r *http.Request, body *wire.Body) error {
		c, err := a.Credentials(ctx)
		if err != nil {
			return err
		}
		sum := sha256.New()
		if body != nil {
			if _, err := io.Copy(sum, body.Reader()); err != nil {
				return refused("cannot sign a request", err)
			}
		}
		// A signer keeps what it derived from a key by the key's id, also when the secret is another.
		if err := v4.NewSigner().SignHTTP(ctx, c, r, hex.EncodeToString(sum.Sum(nil)), service, region, a.env.Now()); err != nil {
			return refused("cannot sign a request", err)
		}
		return nil
	}
}

// shell returns the words of a credential_process line, which may quote some.
func shell(line string) (words []string) {
	word, quote, open := "", rune(0), false
	for _, c := range line {
		switch {
		case quote != 0 && c == quote:
			quote = 0
		case quote == 0 && (c == '"' || c == '\''):
			quote, open = c, true
		case quote == 0 && (c == ' ' || c == '\t'):
			if open {
				words = append(words, word)
			}
			word, open = "", false
		default:
			word, open = word+string(c), true
		}
	}
	if open {
		words = append(words, word)
	}
	return words
}
