package models

import (
	"cmp"
	"context"
	"net/http"
	"net/url"
	"strings"
	"time"

	"adze/internal/llm/anthropic"
	"adze/internal/llm/clouds"
	"adze/internal/llm/gemini"
	"adze/internal/llm/openai"
	"adze/internal/llm/responses"
	"adze/internal/llm/wire"
)

// env returns what signing in needs.
func (f *Finder) env(client *http.Client) clouds.Env {
	return clouds.Env{Getenv: f.getenv, HTTP: client, Run: f.run, Hide: f.hide, Now: time.Now}
}

// setting returns the configuration's value, else that of the first variable that is set.
func (f *Finder) setting(own string, variables ...string) string {
	for _, name := range variables {
		own = cmp.Or(own, strings.TrimSpace(f.getenv(name)))
	}
	return own
}

// enter fills in how a cloud's models are reached, or what the cloud lacks.
func (f *Finder) enter(e *Endpoint, client *http.Client) {
	e.signs, e.NeedsKey = true, false
	c := e.config
	e.mentioned = e.Key != "" || c.Cloud != "" || c.Region+c.Project+c.AWSProfile+c.APIVersion != "" || e.placed != "" ||
		e.Cloud == "bedrock" && f.getenv("AWS_PROFILE") != "" || e.Cloud == "vertex" && f.getenv("GOOGLE_CLOUD_PROJECT") != ""
	switch e.Cloud {
	case "bedrock":
		f.bedrock(e, client)
	case "vertex":
		f.vertex(e, client)
	case "azure":
		f.azure(e, client)
	}
}

func (e *Endpoint) lacks(message, hint string) { e.missing = &MissingError{message, hint} }

func (f *Finder) bedrock(e *Endpoint, client *http.Client) {
	c, key, given := e.config, e.Key, e.base
	account := shared(f.servers, "aws "+c.AWSProfile, func() *clouds.AWS { return clouds.NewAWS(f.env(client), c.AWSProfile) })
	region := cmp.Or(c.Region, account.Region())
	switch {
	case key == "" && account.Missing() != "":
		e.lacks(account.Missing(), "aws configure list-profiles shows them; choose one with AWS_PROFILE or providers."+e.Name+".aws_profile")
	case region == "":
		e.lacks(account.Name()+" has no region", "set AWS_REGION or providers."+e.Name+".region, such as us-east-1")
	}
	if e.missing != nil {
		return
	}
	e.signedBy, e.base = cmp.Or(e.KeySource(), account.Name()), cmp.Or(given, clouds.BedrockHost(region))
	e.access = func(model string) (wire.Format, string, *wire.Door) {
		base, format, region := e.base, c.API, region
		if other := clouds.RegionOf(model); other != "" && given == "" {
			region, base = other, clouds.BedrockHost(other)
		}
		switch {
		case format == "" && clouds.IsClaude(model):
			format = clouds.Invoke
		case format == "":
			format = clouds.Converse
		}
		d := clouds.Bedrock(account, key, region, wire.Host(base), format)
		if format == clouds.Invoke || format == clouds.Converse {
			return anthropic.Format(), base, &d
		}
		if given == "" {
			base += "/openai/v1"
		}
		return openAI(c.API), base, &d
	}
}

// openAI returns the format of OpenAI's two that the configuration selects.
func openAI(api string) wire.Format {
	if api == "responses" {
		return responses.Format()
	}
	return openai.Format()
}

func (f *Finder) vertex(e *Endpoint, client *http.Client) {
	c := e.config
	project := f.setting(c.Project, "GOOGLE_CLOUD_PROJECT", "ANTHROPIC_VERTEX_PROJECT_ID", "GCLOUD_PROJECT")
	region := cmp.Or(f.setting(c.Region, "GOOGLE_CLOUD_LOCATION", "CLOUD_ML_REGION"), "global")
	if project == "" {
		e.lacks(e.Name+" has no project", "set GOOGLE_CLOUD_PROJECT or providers."+e.Name+".project")
		return
	}
	e.signedBy, e.base = "the application default credentials", strings.TrimRight(cmp.Or(e.base, clouds.VertexHost(region)), "/")
	tokens := shared(f.servers, "google", func() *clouds.Tokens { return clouds.Google(f.env(client)) })
	e.access = func(model string) (wire.Format, string, *wire.Door) {
		publisher, format := "google", gemini.Format()
		switch {
		case c.API == "chat":
			d := tokens.Bearer("Authorization", "Bearer ")
			return openai.Format(), e.base + clouds.VertexFolder(project, region) + "/endpoints/openapi", &d
		case c.API == "messages" || clouds.IsClaude(model):
			publisher, format = "anthropic", anthropic.Format()
		}
		d := clouds.Vertex(tokens, project, region, publisher)
		return format, e.base, &d
	}
}

func (f *Finder) azure(e *Endpoint, client *http.Client) {
	c, key := e.config, e.Key
	version := f.setting(c.APIVersion, "OPENAI_API_VERSION")
	if e.base == "" {
		e.lacks(e.Name+" has no address", "set AZURE_OPENAI_ENDPOINT or providers."+e.Name+".base_url to that of the resource, such as https://NAME.openai.azure.com")
		return
	}
	e.base = strings.TrimSuffix(strings.TrimRight(e.base, "/"), "/openai/v1")
	e.signedBy = cmp.Or(e.KeySource(), "Entra")
	d := shared(f.servers, "azure "+e.base+version+key, func() wire.Door { return clouds.Azure(f.env(client), key, version) })
	e.access = func(string) (wire.Format, string, *wire.Door) {
		d := d
		if version != "" {
			return openai.Format(), e.base, &d
		}
		return openAI(c.API), e.base + "/openai/v1", &d
	}
}

// SignedBy names the credentials of a cloud or a gateway that are not a key, for the user.
func (e Endpoint) SignedBy() string { return e.signedBy }

// Lacks returns what a provider that was set up in part still needs, or nil.
func (e Endpoint) Lacks() error {
	if e.missing == nil || !e.mentioned {
		return nil
	}
	return e.missing
}

// signInTime bounds a sign-in, which may ask a program and a server.
const signInTime = 20 * time.Second

// SignIn makes the credentials of a cloud or a gateway without asking a model; those that are a key
// need nothing.
func (e Endpoint) SignIn(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, signInTime)
	defer cancel()
	base, door := e.base, e.door
	if door == nil && e.access != nil {
		_, base, door = e.access("m")
	}
	if door == nil || door.Sign == nil {
		return nil
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, base, nil)
	if err != nil {
		return &MissingError{"the address of " + e.Name + " is none", "write it whole, such as https://api.example.com"}
	}
	return door.Sign(ctx, r, nil)
}

// joined returns a door with the query of a gateway's settings.
func joined(d *wire.Door, query url.Values) *wire.Door {
	if len(query) == 0 {
		return d
	}
	out := wire.Door{}
	if d != nil {
		out = *d
	}
	all := url.Values{}
	for _, of := range []url.Values{out.Query, query} {
		for name, values := range of {
			all[name] = values
		}
	}
	out.Query = all
	return &out
}
