package oauth

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"crypto/x509"
	"encoding/asn1"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"math/big"
)

// keyOf reads a private key in PEM: PKCS 8, or the older forms of RSA and elliptic curves.
func keyOf(text string) (crypto.Signer, error) {
	block, _ := pem.Decode([]byte(text))
	if block == nil {
		return nil, refuse("give it in PEM: -----BEGIN PRIVATE KEY-----", "the private key cannot be read")
	}
	key, err := x509.ParsePKCS8PrivateKey(block.Bytes)
	if err != nil {
		key, err = x509.ParseECPrivateKey(block.Bytes)
	}
	if err != nil {
		key, err = x509.ParsePKCS1PrivateKey(block.Bytes)
	}
	signer, ok := key.(crypto.Signer)
	if err != nil || !ok {
		return nil, refuse("give one of RSA, an elliptic curve or Ed25519, without a password", "the private key cannot be read")
	}
	return signer, nil
}

// algorithm is what a key signs with (RFC 7518); want chooses among those of RSA.
func algorithm(key crypto.Signer, want string) (name string, hash crypto.Hash, err error) {
	switch k := key.(type) {
	case *ecdsa.PrivateKey:
		switch k.Curve {
		case elliptic.P256():
			name, hash = "ES256", crypto.SHA256
		case elliptic.P384():
			name, hash = "ES384", crypto.SHA384
		case elliptic.P521():
			name, hash = "ES512", crypto.SHA512
		}
	case ed25519.PrivateKey:
		name = "EdDSA"
	case *rsa.PrivateKey:
		hashes := map[string]crypto.Hash{"RS256": crypto.SHA256, "RS384": crypto.SHA384, "RS512": crypto.SHA512, "PS256": crypto.SHA256, "PS384": crypto.SHA384, "PS512": crypto.SHA512}
		if name = want; name == "" {
			name = "RS256"
		}
		hash = hashes[name]
		if hash == 0 {
			name = ""
		}
	}
	if name == "" || want != "" && want != name {
		return "", 0, refuse("leave signing_algorithm out", "the private key does not sign with %.20q", want)
	}
	return name, hash, nil
}

// token makes a JSON Web Token (RFC 7519) that a key has signed.
func token(key crypto.Signer, want string, header, claims map[string]any) (string, error) {
	name, hash, err := algorithm(key, want)
	if err != nil {
		return "", err
	}
	header["alg"] = name
	head, err := json.Marshal(header)
	if err != nil {
		return "", err
	}
	body, err := json.Marshal(claims)
	if err != nil {
		return "", err
	}
	text := base64.RawURLEncoding.EncodeToString(head) + "." + base64.RawURLEncoding.EncodeToString(body)
	digest, options := []byte(text), crypto.SignerOpts(hash)
	if hash != 0 {
		h := hash.New()
		h.Write(digest)
		digest = h.Sum(nil)
	}
	if name[:2] == "PS" {
		options = &rsa.PSSOptions{SaltLength: rsa.PSSSaltLengthEqualsHash, Hash: hash}
	}
	signature, err := key.Sign(rand.Reader, digest, options)
	if k, ok := key.(*ecdsa.PrivateKey); ok && err == nil {
		signature, err = joined(signature, (k.Params().BitSize+7)/8)
	}
	if err != nil {
		return "", fmt.Errorf("sign a token: %w", err)
	}
	return text + "." + base64.RawURLEncoding.EncodeToString(signature), nil
}

// joined is a signature of an elliptic curve as tokens have it: two numbers of one size.
func joined(signature []byte, size int) ([]byte, error) {
	var pair struct{ R, S *big.Int }
	if rest, err := asn1.Unmarshal(signature, &pair); err != nil || len(rest) > 0 {
		return nil, errors.New("it is no signature")
	}
	out := make([]byte, 2*size)
	pair.R.FillBytes(out[:size])
	pair.S.FillBytes(out[size:])
	return out, nil
}

// digest is the SHA-256 of a text in the form of web tokens.
func digest(text string) string {
	sum := sha256.Sum256([]byte(text))
	return base64.RawURLEncoding.EncodeToString(sum[:])
}
