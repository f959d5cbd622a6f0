package natsclient

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"fmt"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"adze/internal/testkit/natstest"
)

// authority signs certificates for a test.
type authority struct {
	t    *testing.T
	dir  string
	cert *x509.Certificate
	key  *ecdsa.PrivateKey
}

func newAuthority(t *testing.T, name string) *authority {
	t.Helper()
	a := &authority{t: t, dir: t.TempDir()}
	a.cert, a.key = a.sign(name, nil)
	return a
}

// sign writes a certificate, and its key, into files of its name.
func (a *authority) sign(name string, by *authority) (*x509.Certificate, *ecdsa.PrivateKey) {
	a.t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		a.t.Fatal(err)
	}
	cert := &x509.Certificate{SerialNumber: big.NewInt(time.Now().UnixNano()), Subject: pkix.Name{CommonName: name}, NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth}, KeyUsage: x509.KeyUsageDigitalSignature}
	parent, signer := cert, key
	if by == nil {
		cert.IsCA, cert.BasicConstraintsValid, cert.KeyUsage = true, true, x509.KeyUsageCertSign
	} else {
		parent, signer = by.cert, by.key
	}
	raw, err := x509.CreateCertificate(rand.Reader, cert, parent, &key.PublicKey, signer)
	if err != nil {
		a.t.Fatal(err)
	}
	private, err := x509.MarshalECPrivateKey(key)
	if err != nil {
		a.t.Fatal(err)
	}
	for file, block := range map[string]*pem.Block{name + ".crt": {Type: "CERTIFICATE", Bytes: raw}, name + ".key": {Type: "EC PRIVATE KEY", Bytes: private}} {
		if err := os.WriteFile(filepath.Join(a.dir, file), pem.EncodeToMemory(block), 0o600); err != nil {
			a.t.Fatal(err)
		}
	}
	return cert, key
}

func (a *authority) file(name string) string { return filepath.Join(a.dir, name) }

// TestAPrivateAuthorityAndCertificatesOfClients: a server that only its own authority vouches for,
// and that asks clients for a certificate, takes those who name both, and nobody else.
func TestAPrivateAuthorityAndCertificatesOfClients(t *testing.T) {
	a, foreign := newAuthority(t, "ca"), newAuthority(t, "ca")
	a.sign("server", a)
	a.sign("client", a)
	foreign.sign("client", foreign)
	server := natstest.Start(t, natstest.Options{Users: fmt.Sprintf("tls {\n  cert_file: %q\n  key_file: %q\n  ca_file: %q\n  verify: true\n}\n", a.file("server.crt"), a.file("server.key"), a.file("ca.crt"))})
	url := strings.Replace(server.URL(), "nats://", "tls://", 1)
	variables := func(of map[string]string) Options {
		return FromEnvironment(Options{URL: url, Wait: time.Second, Leader: 2 * time.Minute}, func(name string) string { return of[name] })
	}
	conn, err := Dial(t.Context(), variables(map[string]string{"ADZE_NATS_CA": a.file("ca.crt"), "ADZE_NATS_CERT": a.file("client.crt"), "ADZE_NATS_KEY": a.file("client.key")}))
	if err != nil {
		t.Fatal(err)
	}
	conn.Close()
	for name, c := range map[string]struct {
		of   map[string]string
		want error
		says string
	}{
		"no authority":        {map[string]string{"ADZE_NATS_CERT": a.file("client.crt"), "ADZE_NATS_KEY": a.file("client.key")}, ErrUnreachable, "unknown authority"},
		"another authority":   {map[string]string{"ADZE_NATS_CA": foreign.file("ca.crt"), "ADZE_NATS_CERT": a.file("client.crt"), "ADZE_NATS_KEY": a.file("client.key")}, ErrUnreachable, "certificate"},
		"no certificate":      {map[string]string{"ADZE_NATS_CA": a.file("ca.crt")}, ErrUnreachable, ""},
		"another certificate": {map[string]string{"ADZE_NATS_CA": a.file("ca.crt"), "ADZE_NATS_CERT": foreign.file("client.crt"), "ADZE_NATS_KEY": foreign.file("client.key")}, ErrUnreachable, ""},
		"no key":              {map[string]string{"ADZE_NATS_CA": a.file("ca.crt"), "ADZE_NATS_CERT": a.file("client.crt")}, ErrAddress, "ADZE_NATS_KEY"},
		"no file":             {map[string]string{"ADZE_NATS_CA": a.file("none")}, ErrAddress, "ADZE_NATS_CA"},
		"no PEM":              {map[string]string{"ADZE_NATS_CA": a.file("client.key")}, ErrAddress, "no certificate in PEM"},
	} {
		if _, err := Dial(t.Context(), variables(c.of)); !errors.Is(err, c.want) || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
