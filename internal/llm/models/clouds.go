package models

import (
	"cmp"
	"context"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"adze/internal/llm/anthropic"
	"adze/internal/llm/clouds"
	"adze/internal/llm/gemini"
	"adze/internal/llm/local"
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
		e.Cloud == "bedrock" && f.getenv("AWS_PROFILE") != "" || e.Cloud == "vertex" && f.getenv("GOOGLE_CLOUD_PROJECT") != "" ||
		strings.HasPrefix(f.config.Model, e.Name+"/")
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
	e.lister = clouds.Bedrock(account, key, region, "", clouds.OpenAI)
	if given == "" {
		e.lists = clouds.BedrockLists(region)
	}
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
		if u, err := url.Parse(base); err == nil && strings.Trim(u.Path, "/") == "" {
			base = strings.TrimRight(base, "/") + clouds.OpenAIPath(u.Host)
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
	e.lister = tokens.Bearer("Authorization", "Bearer ")
	sign := e.lister.Sign
	e.lister.Sign = func(ctx context.Context, r *http.Request, b *wire.Body) error {
		r.Header.Set("X-Goog-User-Project", project) // the path of a model names it; service accounts may not send it there
		return sign(ctx, r, b)
	}
	for _, publisher := range []string{"google", "anthropic"} {
		e.lists = append(e.lists, e.base+"/v1beta1/publishers/"+publisher+"/models?pageSize=300")
	}
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
	e.lists = []string{e.base + "/openai/v1/models"}
	if version != "" {
		e.lists[0] = e.base + "/openai/models"
	}
	d := shared(f.servers, "azure "+e.base+version+key, func() wire.Door { return clouds.Azure(f.env(client), key, version) })
	e.lister = d
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

// signsIn describes a cloud that can be used, for a list.
func (e Endpoint) signsIn() string {
	if e.Cloud == "azure" {
		return "signs in by " + e.signedBy + "; a model's name is that of a deployment"
	}
	return "signs in by " + e.signedBy
}

// Lacks returns what a provider that was set up in part still needs, or nil.
func (e Endpoint) Lacks() error {
	if e.missing == nil || !e.mentioned {
		return nil
	}
	return e.missing
}

// listTime bounds a query of a cloud, which may first ask a program and a server to sign in.
const listTime = 20 * time.Second

// listed queries a cloud's lists of models; without one it only signs in.
func (e Endpoint) listed(ctx context.Context) (out []local.Model, err error) {
	s := e.Server()
	s.Patience, s.Header, s.Door = listTime, e.header, joined(cmp.Or(e.door, &e.lister), e.query)
	for _, s.List = range e.lists {
		models, err := s.Models(ctx)
		if err != nil {
			return nil, err
		}
		out = append(out, slices.DeleteFunc(models, func(m local.Model) bool { // Google's list has models of pictures, too
			return e.Cloud == "vertex" && !strings.HasPrefix(m.Name, "gemini-") && !clouds.IsClaude(m.Name)
		})...)
	}
	if len(e.lists) > 0 {
		return out, nil
	}
	ctx, cancel := context.WithTimeout(ctx, listTime)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, e.base, nil)
	if err != nil {
		return nil, &MissingError{"the address of " + e.Name + " is none", "write it whole, such as https://api.example.com"}
	}
	return nil, s.Door.Sign(ctx, r, nil)
}

// MayNotList reports whether an identity was known, but may not list models. It may still use them.
func MayNotList(err error) bool {
	return err != nil && slices.ContainsFunc([]string{"not authorized to perform", "required permission", "Permission '"}, func(said string) bool {
		return strings.Contains(err.Error(), said)
	})
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
