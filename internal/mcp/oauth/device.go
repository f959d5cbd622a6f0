package oauth

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	"golang.org/x/oauth2"
)

const deviceGrant = "urn:ietf:params:oauth:grant-type:device_code"

// Bounds of what an issuer asks for while it is waited for (RFC 8628 has no upper ones).
const (
	minInterval, maxInterval = 1, 60 // seconds
	maxUserCode              = 64    // bytes
)

// byDevice has the user say yes on any device, with a code.
func (d Desk) byDevice(ctx context.Context, f found, o Options) (k Kept, err error) {
	if f.meta.Device == "" {
		return k, refuse("adze mcp login "+f.server.Name, "%s knows no login by another device", f.issuer.Host)
	}
	if k, err = f.register(ctx, o, "http://127.0.0.1"+back); err != nil {
		return k, err
	}
	da, err := f.device(ctx, k)
	if err != nil {
		return k, err
	}
	d.Tell("log in at " + da.VerificationURI + " with the code " + da.UserCode)
	params, err := k.asserting(f.server.Config)
	if err != nil {
		return k, err
	}
	token, err := k.config().DeviceAccessToken(with(ctx, f.client), da, append(params, oauth2.SetAuthURLParam("resource", k.Resource))...)
	if errors.Is(err, context.DeadlineExceeded) && ctx.Err() == nil {
		err = &oauth2.RetrieveError{ErrorCode: "expired_token"}
	}
	if err != nil {
		return k, err
	}
	return k.take(token)
}

// postForm makes a request of the form that issuers take.
func postForm(ctx context.Context, to string, form url.Values) (*http.Request, error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, to, strings.NewReader(form.Encode()))
	if err == nil {
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		r.Header.Set("Accept", "application/json")
	}
	return r, err
}

// device asks for a code. The library's own function dies of an answer that is null.
func (f found) device(ctx context.Context, k Kept) (*oauth2.DeviceAuthResponse, error) {
	form := url.Values{"client_id": {k.Client}, "resource": {k.Resource}}
	if len(k.Scopes) > 0 {
		form.Set("scope", strings.Join(k.Scopes, " "))
	}
	r, err := postForm(ctx, f.meta.Device, form)
	if err != nil {
		return nil, err
	}
	resp, err := f.client.Do(r)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	var answer struct {
		Error    string `json:"error"`
		Device   string `json:"device_code"`
		User     string `json:"user_code"`
		At       string `json:"verification_uri"`
		Expires  int64  `json:"expires_in"`
		Interval int64  `json:"interval"`
	}
	raw, err := io.ReadAll(io.LimitReader(resp.Body, maxDescription))
	if err != nil {
		return nil, err
	}
	if err := json.Unmarshal(raw, &answer); err != nil || resp.StatusCode != http.StatusOK {
		return nil, &oauth2.RetrieveError{Response: resp, ErrorCode: answer.Error}
	}
	at, err := Address(answer.At)
	odd := func(r rune) bool { return r < ' ' || r > '~' }
	if err != nil || answer.Device == "" || answer.User == "" || len(answer.User) > maxUserCode || strings.ContainsFunc(answer.User, odd) {
		return nil, refuse("tell whoever runs it", "%s gave no code that can be shown", f.issuer.Host)
	}
	da := &oauth2.DeviceAuthResponse{DeviceCode: answer.Device, UserCode: answer.User, VerificationURI: at}
	if answer.Interval == 0 {
		answer.Interval = 5
	}
	da.Interval = min(max(answer.Interval, minInterval), maxInterval)
	if answer.Expires > 0 {
		da.Expiry = time.Now().Add(time.Duration(min(answer.Expires, int64(patience/time.Second))) * time.Second)
	}
	return da, nil
}
