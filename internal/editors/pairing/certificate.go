package pairing

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"fmt"
	"io/fs"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"adze/internal/osfile/atomicfile"
)

// certLife is how long a certificate that is made here is good for. Browsers of Apple trust none
// for longer than 398 days.
const certLife = 397 * 24 * time.Hour

// certSpare is how long before its end a certificate is made anew.
const certSpare = 14 * 24 * time.Hour

// Certificate is that of a file, made anew where there is none for these hosts, which are names and
// addresses without ports. The user compares its fingerprint.
func Certificate(path string, hosts []string, now time.Time) (tls.Certificate, error) {
	raw, err := os.ReadFile(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return tls.Certificate{}, fmt.Errorf("read the certificate: %w", err)
	}
	if c, err := tls.X509KeyPair(raw, raw); err == nil && fits(c.Leaf, hosts, now) {
		return c, nil
	}
	raw, err = newCertificate(hosts, now)
	if err != nil {
		return tls.Certificate{}, fmt.Errorf("make a certificate: %w", err)
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return tls.Certificate{}, fmt.Errorf("keep the certificate: %w", err)
	}
	if err := atomicfile.Write(path, raw); err != nil {
		return tls.Certificate{}, fmt.Errorf("keep the certificate: %w", err)
	}
	return tls.X509KeyPair(raw, raw)
}

func fits(c *x509.Certificate, hosts []string, now time.Time) bool {
	return now.After(c.NotBefore) && now.Add(certSpare).Before(c.NotAfter) &&
		!slices.ContainsFunc(hosts, func(h string) bool { return c.VerifyHostname(h) != nil })
}

// newCertificate is a key and a certificate that signs itself, as PEM.
func newCertificate(hosts []string, now time.Time) ([]byte, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, err
	}
	number, err := rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 127))
	if err != nil {
		return nil, err
	}
	c := &x509.Certificate{SerialNumber: number, Subject: pkix.Name{CommonName: "adze serve"}, NotBefore: now.Add(-time.Hour), NotAfter: now.Add(certLife),
		KeyUsage: x509.KeyUsageDigitalSignature, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth}, BasicConstraintsValid: true}
	for _, h := range hosts {
		if ip := net.ParseIP(h); ip != nil {
			c.IPAddresses = append(c.IPAddresses, ip)
		} else {
			c.DNSNames = append(c.DNSNames, h)
		}
	}
	der, err := x509.CreateCertificate(rand.Reader, c, c, &key.PublicKey, key)
	if err != nil {
		return nil, err
	}
	secret, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return nil, err
	}
	return append(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}), pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: secret})...), nil
}

// Fingerprint is the SHA-256 of a certificate, as browsers show it.
func Fingerprint(c tls.Certificate) string {
	sum := sha256.Sum256(c.Certificate[0])
	parts := make([]string, len(sum))
	for i, b := range sum {
		parts[i] = fmt.Sprintf("%02X", b)
	}
	return strings.Join(parts, ":")
}
