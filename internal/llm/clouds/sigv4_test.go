package clouds_test

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"
)

// verify checks a request's signature as the service does, written from the specification of
// Signature Version 4 and without Amazon's module. It returns what is wrong, or "".
func verify(r *http.Request, body []byte, id, secret, region, service string, now time.Time) string {
	fields := map[string]string{}
	algorithm, rest, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	for part := range strings.SplitSeq(rest, ",") {
		name, value, _ := strings.Cut(strings.TrimSpace(part), "=")
		fields[name] = value
	}
	stamp := r.Header.Get("X-Amz-Date")
	when, err := time.Parse("20060102T150405Z", stamp)
	if algorithm != "AWS4-HMAC-SHA256" || err != nil {
		return "no signature"
	}
	if d := now.Sub(when); d > 5*time.Minute || d < -5*time.Minute {
		return "Signature expired"
	}
	scope := strings.Join([]string{stamp[:8], region, service, "aws4_request"}, "/")
	if fields["Credential"] != id+"/"+scope {
		return "credential scope is " + fields["Credential"]
	}
	signed := strings.Split(fields["SignedHeaders"], ";")
	if !slices.IsSorted(signed) || !slices.Contains(signed, "host") || !slices.Contains(signed, "x-amz-date") {
		return "signed headers are " + fields["SignedHeaders"]
	}
	var headers strings.Builder
	for _, name := range signed {
		value := strings.Join(r.Header.Values(name), ",")
		switch name {
		case "host":
			value = r.Host
		case "content-length":
			value = fmt.Sprint(r.ContentLength)
		}
		fmt.Fprintf(&headers, "%s:%s\n", name, strings.Join(strings.Fields(value), " "))
	}
	sum := func(b []byte) string { s := sha256.Sum256(b); return hex.EncodeToString(s[:]) }
	canonical := strings.Join([]string{r.Method, escaped(r.URL.EscapedPath()), query(r.URL.Query()), headers.String(), fields["SignedHeaders"], sum(body)}, "\n")
	toSign := strings.Join([]string{"AWS4-HMAC-SHA256", stamp, scope, sum([]byte(canonical))}, "\n")
	key := []byte("AWS4" + secret)
	for _, part := range append(strings.Split(scope, "/"), toSign) {
		h := hmac.New(sha256.New, key)
		_, _ = io.WriteString(h, part) // a hash does not fail
		key = h.Sum(nil)
	}
	if got := fields["Signature"]; got != hex.EncodeToString(key) {
		return "the signature does not match"
	}
	return ""
}

// escaped encodes each byte of a path that is already encoded once more, but its slashes.
func escaped(path string) string {
	var b strings.Builder
	for _, c := range []byte(path) {
		if c == '/' || unreserved(c) {
			b.WriteByte(c)
		} else {
			fmt.Fprintf(&b, "%%%02X", c)
		}
	}
	return b.String()
}

func unreserved(c byte) bool {
	return strings.IndexByte("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~", c) >= 0
}

func query(values url.Values) string {
	var pairs []string
	for name, all := range values {
		for _, v := range all {
			pairs = append(pairs, escaped(name)+"="+strings.ReplaceAll(escaped(v), "/", "%2F"))
		}
	}
	slices.Sort(pairs)
	return strings.Join(pairs, "&")
}
