package oauth

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/rsa"
	"crypto/x509"
	"encoding/pem"
	"fmt"

	"github.com/golang-jwt/jwt/v5"

	"adze/internal/mcp/remote"
)

// sign returns a JSON Web Token signed with a PEM private key (PKCS 8) and its usual algorithm. If
// want is not empty, it must be that algorithm.
func sign(key, want, keyID string, claims jwt.MapClaims) (string, error) {
	block, _ := pem.Decode([]byte(key))
	if block == nil {
		return "", remote.Refuse("give it in PEM: -----BEGIN PRIVATE KEY-----", "the private key cannot be read")
	}
	private, err := x509.ParsePKCS8PrivateKey(block.Bytes)
	if err != nil {
		return "", remote.Refuse("give one of RSA, an elliptic curve or Ed25519, without a password; openssl pkcs8 -topk8 -nocrypt makes it of others", "the private key cannot be read")
	}
	method := methodOf(private)
	if method == nil || want != "" && want != method.Alg() {
		return "", remote.Refuse("leave signing_algorithm out", "the private key does not sign with %.20q", want)
	}
	token := jwt.NewWithClaims(method, claims)
	if keyID != "" {
		token.Header["kid"] = keyID
	}
	text, err := token.SignedString(private)
	if err != nil {
		return "", fmt.Errorf("sign a token: %w", err)
	}
	return text, nil
}

// methodOf returns a key's signing method, or nil.
func methodOf(key crypto.PrivateKey) jwt.SigningMethod {
	switch k := key.(type) {
	case *ecdsa.PrivateKey:
		for _, m := range []*jwt.SigningMethodECDSA{jwt.SigningMethodES256, jwt.SigningMethodES384, jwt.SigningMethodES512} {
			if m.CurveBits == k.Params().BitSize {
				return m
			}
		}
	case ed25519.PrivateKey:
		return jwt.SigningMethodEdDSA
	case *rsa.PrivateKey:
		return jwt.SigningMethodRS256
	}
	return nil
}
