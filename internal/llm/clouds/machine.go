package clouds

import (
	"cmp"
	"context"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/netip"
	"net/url"
	"os"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials/ec2rolecreds"
	"github.com/aws/aws-sdk-go-v2/credentials/endpointcreds"
	"github.com/aws/aws-sdk-go-v2/feature/ec2/imds"

	"adze/internal/llm/wire"
)

// given returns the credentials that a cluster or a container gives its programs: those of a web
// identity, which a profile may name, too, or of an address. ok is false without either.
func (a *AWS) given(ctx context.Context) (c aws.Credentials, ok bool, err error) {
	get := a.env.Getenv
	role, file := a.settings["role_arn"], a.settings["web_identity_token_file"]
	if a.profile == "" && get("AWS_WEB_IDENTITY_TOKEN_FILE") != "" {
		role, file = get("AWS_ROLE_ARN"), get("AWS_WEB_IDENTITY_TOKEN_FILE")
	}
	if file != "" {
		c, err := a.assumed(ctx, role, file)
		return c, true, err
	}
	at := get("AWS_CONTAINER_CREDENTIALS_FULL_URI")
	if path := get("AWS_CONTAINER_CREDENTIALS_RELATIVE_URI"); path != "" {
		at = "http://169.254.170.2" + path
	}
	if at == "" || a.profile != "" {
		return c, false, nil
	}
	if u, err := url.Parse(at); err != nil || u.Scheme != "https" && !near(u.Hostname()) {
		return c, true, hinted{errors.New("AWS_CONTAINER_CREDENTIALS_FULL_URI is neither https nor on this machine"), "unset it, or set it to the address that the cluster gives"}
	}
	c, err = endpointcreds.New(at, func(o *endpointcreds.Options) {
		o.HTTPClient = wire.HTTP(nil)
		o.AuthorizationToken = get("AWS_CONTAINER_AUTHORIZATION_TOKEN")
		if file := get("AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE"); file != "" {
			o.AuthorizationTokenProvider = endpointcreds.TokenProviderFunc(func() (string, error) { return contents(file) })
		}
	}).Retrieve(ctx)
	return c, true, err
}

// near reports whether a host is this machine or serves its containers.
func near(host string) bool {
	ip, _ := netip.ParseAddr(host)
	return wire.Loopback(host) || ip.IsLinkLocalUnicast() || host == "fd00:ec2::23"
}

func contents(file string) (string, error) {
	raw, err := os.ReadFile(file)
	return strings.TrimSpace(string(raw)), err
}

// assumed exchanges the token of a web identity for credentials of a role. Amazon's module for that
// is not used, because it costs every start 1,400 allocations.
func (a *AWS) assumed(ctx context.Context, role, file string) (aws.Credentials, error) {
	token, err := contents(file)
	if err != nil {
		return aws.Credentials{}, err
	}
	form := url.Values{"Action": {"AssumeRoleWithWebIdentity"}, "Version": {"2011-06-15"}, "RoleArn": {role},
		"RoleSessionName": {cmp.Or(a.env.Getenv("AWS_ROLE_SESSION_NAME"), "adze")}, "WebIdentityToken": {token}}
	at := cmp.Or(a.env.Getenv("AWS_ENDPOINT_URL_STS"), host("sts", cmp.Or(a.Region(), "us-east-1")))
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, at, strings.NewReader(form.Encode()))
	if err != nil {
		return aws.Credentials{}, err
	}
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	response, err := wire.HTTP(a.env.HTTP).Do(r)
	if err != nil {
		return aws.Credentials{}, err
	}
	defer response.Body.Close()
	var said struct {
		Keys struct {
			AccessKeyID     string `xml:"AccessKeyId"`
			SecretAccessKey string
			SessionToken    string
			Expiration      time.Time
		} `xml:"AssumeRoleWithWebIdentityResult>Credentials"`
		Fault string `xml:"Error>Message"`
	}
	const most = 1 << 20 // bytes
	err = xml.NewDecoder(io.LimitReader(response.Body, most)).Decode(&said)
	if k := said.Keys; err == nil && k.AccessKeyID != "" {
		return aws.Credentials{AccessKeyID: k.AccessKeyID, SecretAccessKey: k.SecretAccessKey, SessionToken: k.SessionToken, CanExpire: true, Expires: k.Expiration}, nil
	}
	return aws.Credentials{}, hinted{fmt.Errorf("the role %s was not given: %s", role, cmp.Or(said.Fault, response.Status)), "check the role's trust policy and the token in " + file}
}

// instance returns the credentials of an instance's role.
func (a *AWS) instance(ctx context.Context) (aws.Credentials, error) {
	const most = 2 * time.Second // on other machines nobody answers
	ctx, cancel := context.WithTimeout(ctx, most)
	defer cancel()
	if a.profile != "" || strings.EqualFold(a.env.Getenv("AWS_EC2_METADATA_DISABLED"), "true") {
		return aws.Credentials{}, errors.New("not asked")
	}
	client := imds.New(imds.Options{HTTPClient: wire.HTTP(nil), Endpoint: a.env.Getenv("AWS_EC2_METADATA_SERVICE_ENDPOINT")})
	return ec2rolecreds.New(func(o *ec2rolecreds.Options) { o.Client = client }).Retrieve(ctx)
}
