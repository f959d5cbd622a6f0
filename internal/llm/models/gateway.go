package models

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"strings"
	"time"

	"adze/internal/config"
	"adze/internal/llm/clouds"
	"adze/internal/llm/wire"
)

// shared returns what a process makes once.
func shared[T any](s *Servers, key string, create func() T) T {
	s.mu.Lock()
	defer s.mu.Unlock()
	if made, ok := s.made[key].(T); ok {
		return made
	}
	if s.made == nil {
		s.made = map[string]any{}
	}
	made := create()
	s.made[key] = made
	return made
}

// gateway fills in a provider's headers, query, certificates and proxy, and returns its client, or
// nil for the usual one. A mistake makes the provider unusable.
func (f *Finder) gateway(e *Endpoint) *http.Client {
	c := e.config
	for name, value := range c.Headers {
		e.header = wire.WithHeader(e.header, name, f.fill(e, "headers."+name, value))
	}
	for name, value := range c.Query {
		if e.query == nil {
			e.query = url.Values{}
		}
		e.query.Set(name, f.fill(e, "query."+name, value))
	}
	proxy := f.fill(e, "proxy", c.Proxy)
	if proxy == "" && c.CAFile == "" && c.ClientCert == "" {
		return nil
	}
	type client struct {
		*http.Client
		err error
	}
	made := shared(f.servers, fmt.Sprintf("http %q %q %q %q", proxy, c.CAFile, c.ClientCert, c.ClientKey), func() client {
		t, err := transportOf(c, proxy)
		return client{&http.Client{Transport: t}, err}
	})
	if made.err != nil {
		e.lacks("providers."+e.Name+": "+made.err.Error(), "mend that setting")
	}
	e.http = made.Client
	return made.Client
}

// fill replaces ${NAME} in a setting.
func (f *Finder) fill(e *Endpoint, field, text string) string {
	return os.Expand(text, func(name string) string {
		value := strings.TrimSpace(f.getenv(name))
		if value == "" {
			e.lacks(fmt.Sprintf("the variable %s in providers.%s.%s is not set", name, e.Name, field), "set "+name)
		}
		return value
	})
}

func transportOf(c config.Provider, proxy string) (*http.Transport, error) {
	t := wire.Transport()
	t.TLSClientConfig = &tls.Config{MinVersion: tls.VersionTLS12}
	if proxy != "" {
		at, err := url.Parse(proxy)
		if err != nil || at.Host == "" { // the error would show the password
			return t, errors.New("proxy is no address such as http://proxy:3128")
		}
		t.Proxy = http.ProxyURL(at)
	}
	if c.CAFile != "" {
		pem, err := os.ReadFile(c.CAFile)
		if err != nil {
			return t, fmt.Errorf("ca_file: %w", err)
		}
		pool, err := x509.SystemCertPool()
		if err != nil {
			pool = x509.NewCertPool()
		}
		if !pool.AppendCertsFromPEM(pem) {
			return t, fmt.Errorf("ca_file: there is no certificate in %s", c.CAFile)
		}
		t.TLSClientConfig.RootCAs = pool
	}
	if c.ClientCert != "" {
		pair, err := tls.LoadX509KeyPair(c.ClientCert, c.ClientKey)
		if err != nil {
			return t, fmt.Errorf("client_cert: %w", err)
		}
		t.TLSClientConfig.Certificates = []tls.Certificate{pair}
	}
	return t, nil
}

// commanded gives a provider the key that a program prints, in the header of its format.
func (f *Finder) commanded(e *Endpoint, client *http.Client) {
	argv, keep := e.config.KeyCommand, time.Duration(e.config.KeyTime)
	if keep == 0 {
		keep = clouds.DefaultKeyTime
	}
	tokens := shared(f.servers, fmt.Sprintf("command %q %s", argv, keep), func() *clouds.Tokens { return clouds.Command(f.env(client), e.Name, argv, keep) })
	header, scheme := "Authorization", "Bearer "
	format, err := e.formatFor(e.config)
	if err == nil && format.Header != nil {
		for name, value := range format.Header("key") {
			if value[0] == "key" {
				header, scheme = name, ""
			}
		}
	}
	d := tokens.Bearer(header, scheme)
	e.signs, e.signedBy, e.Key, e.InKeyring, e.door = true, "providers."+e.Name+".key_command", "", false, &d
}

// variables returns the names in ${NAME} of a provider's settings.
func variables(p config.Provider) (names []string) {
	for _, of := range []map[string]string{p.Headers, p.Query, {"": p.Proxy}} {
		for _, value := range of {
			os.Expand(value, func(name string) string {
				names = append(names, name)
				return ""
			})
		}
	}
	return names
}
