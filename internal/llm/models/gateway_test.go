package models

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
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
	"testing"
	"time"
)

// certificate writes a certificate and its key to name.pem and name.key; a nil parent makes it an
// authority.
func certificate(t *testing.T, dir, name string, parent *x509.Certificate, by *ecdsa.PrivateKey) (*x509.Certificate, *ecdsa.PrivateKey) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	c := &x509.Certificate{SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: name}, NotBefore: time.Unix(0, 0), NotAfter: time.Unix(1<<33, 0),
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth}}
	if parent == nil {
		c.IsCA, c.BasicConstraintsValid, c.KeyUsage, c.ExtKeyUsage = true, true, x509.KeyUsageCertSign, nil
		parent, by = c, key
	}
	raw, err := x509.CreateCertificate(rand.Reader, c, parent, &key.PublicKey, by)
	if err != nil {
		t.Fatal(err)
	}
	private, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	for file, block := range map[string]*pem.Block{".pem": {Type: "CERTIFICATE", Bytes: raw}, ".key": {Type: "PRIVATE KEY", Bytes: private}} {
		if err := os.WriteFile(filepath.Join(dir, name+file), pem.EncodeToMemory(block), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	made, err := x509.ParseCertificate(raw)
	if err != nil {
		t.Fatal(err)
	}
	return made, key
}

// A gateway with a company's own authority that admits only clients with a certificate.
func TestAGatewayWantsACertificate(t *testing.T) {
	dir := t.TempDir()
	ca, key := certificate(t, dir, "ca", nil, nil)
	certificate(t, dir, "server", ca, key)
	certificate(t, dir, "client", ca, key)
	pair, err := tls.LoadX509KeyPair(filepath.Join(dir, "server.pem"), filepath.Join(dir, "server.key"))
	if err != nil {
		t.Fatal(err)
	}
	pool := x509.NewCertPool()
	pool.AddCert(ca)
	s := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, chatHello) }))
	s.Config.ErrorLog = log.New(io.Discard, "", 0)
	s.TLS = &tls.Config{Certificates: []tls.Certificate{pair}, ClientAuth: tls.RequireAndVerifyClientCert, ClientCAs: pool}
	s.StartTLS()
	defer s.Close()
	at := func(name string) string { return filepath.ToSlash(filepath.Join(dir, name)) }
	for settings, want := range map[string]string{
		fmt.Sprintf(`,"ca_file":%q,"client_cert":%q,"client_key":%q`, at("ca.pem"), at("client.pem"), at("client.key")): "hello",
		fmt.Sprintf(`,"ca_file":%q`, at("ca.pem")):                                           "", // no certificate of its own
		fmt.Sprintf(`,"client_cert":%q,"client_key":%q`, at("client.pem"), at("client.key")): "", // an authority that nobody knows
	} {
		m, err := finder(t, `{"providers":{"work":{"base_url":"`+s.URL+`/v1"`+settings+`}}}`, nil, Memory{}).Named("work/m")
		if err != nil {
			t.Fatal(err)
		}
		text, _, done := said(t, m)
		if text != want || (done.Err == nil) != (want != "") {
			t.Errorf("%s: %q, %v", settings, text, done.Err)
		}
	}
}
