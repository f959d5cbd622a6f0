package oauth

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/rand"
	"crypto/rsa"
	_ "crypto/sha512" // for ES384 and ES512
	"crypto/x509"
	"encoding/asn1"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"math/big"
)

// sign makes a JSON Web Token (RFC 7519) that a private key in PEM has signed with its usual
// algorithm (RFC 7518); want, if not empty, is the one that it has to be.
func sign(key, want, keyID string, claims map[string]any) (string, error) {
	signer, err := keyOf(key)
	if err != nil {
		return "", err
	}
	name, hash := algorithm(signer)
	if name == "" || want != "" && want != name {
		return "", refuse("leave signing_algorithm out", "the private key does not sign with %.20q", want)
	}
	header := map[string]any{"typ": "JWT", "alg": name}
	if keyID != "" {
		header["kid"] = keyID
	}
	head, err := json.Marshal(header)
	body, err2 := json.Marshal(claims)
	if err := errors.Join(err, err2); err != nil {
		return "", err
	}
	text := base64.RawURLEncoding.EncodeToString(head) + "." + base64.RawURLEncoding.EncodeToString(body)
	digest := []byte(text)
	if hash != 0 {
		h := hash.New()
		h.Write(digest)
		digest = h.Sum(nil)
	}
	signature, err := signer.Sign(rand.Reader, digest, hash)
	if k, ok := signer.(*ecdsa.PrivateKey); ok && err == nil {
		signature, err = fixedSize(signature, (k.Params().BitSize+7)/8)
	}
	if err != nil {
		return "", fmt.Errorf("sign a token: %w", err)
	}
	return text + "." + base64.RawURLEncoding.EncodeToString(signature), nil
}

// keyOf reads a private key in PEM (PKCS 8).
func keyOf(text string) (crypto.Signer, error) {
	block, _ := pem.Decode([]byte(text))
	if block == nil {
		return nil, refuse("give it in PEM: -----BEGIN PRIVATE KEY-----", "the private key cannot be read")
	}
	key, err := x509.ParsePKCS8PrivateKey(block.Bytes)
	signer, ok := key.(crypto.Signer)
	if err != nil || !ok {
		return nil, refuse("give one of RSA, an elliptic curve or Ed25519, without a password; openssl pkcs8 -topk8 -nocrypt makes it of others", "the private key cannot be read")
	}
	return signer, nil
}

func algorithm(key crypto.Signer) (name string, hash crypto.Hash) {
	switch k := key.(type) {
	case *ecdsa.PrivateKey:
		switch k.Params().BitSize {
		case 256:
			return "ES256", crypto.SHA256
		case 384:
			return "ES384", crypto.SHA384
		case 521:
			return "ES512", crypto.SHA512
		}
	case ed25519.PrivateKey:
		return "EdDSA", 0
	case *rsa.PrivateKey:
		return "RS256", crypto.SHA256
	}
	return "", 0
}

// fixedSize is a signature of an elliptic curve as tokens have it: two numbers of one size.
func fixedSize(signature []byte, size int) ([]byte, error) {
	var pair struct{ R, S *big.Int }
	if rest, err := asn1.Unmarshal(signature, &pair); err != nil || len(rest) > 0 {
		return nil, errors.New("it is no signature")
	}
	out := make([]byte, 2*size)
	pair.R.FillBytes(out[:size])
	pair.S.FillBytes(out[size:])
	return out, nil
}
