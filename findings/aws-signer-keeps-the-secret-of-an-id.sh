#!/usr/bin/env bash
# aws-sdk-go-v2 v1.48.0, aws/signer/v4: a Signer signs with the first secret that it saw of an access key's id, for a day, also
# when it is given another secret with that id.
#
# Expected: the signature of a request follows from the credentials that SignHTTP is given. Seen: after one request with id AKID
# and secret one, a request with id AKID and secret two has the signature of secret one; a new Signer gives the right one.
#
# Who meets it: programs with one Signer for all requests whose user mends a wrong secret of the right id: every request is
# refused (SignatureDoesNotMatch) until the program is started anew or the day ends.
set -euo pipefail
dir=$(mktemp -d)
trap 'chmod -R u+w "$dir"; rm -rf "$dir"' EXIT
cd "$dir"
cat >main.go <<'END'
package main

import (
	"context"
	"fmt"
	"net/http"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	v4 "github.com/aws/aws-sdk-go-v2/aws/signer/v4"
)

func sign(s *v4.Signer, secret string) string {
	r, err := http.NewRequest(http.MethodGet, "https://example.amazonaws.com/", nil)
	if err != nil {
		panic(err)
	}
	c := aws.Credentials{AccessKeyID: "AKID", SecretAccessKey: secret}
	if err := s.SignHTTP(context.Background(), c, r, "UNSIGNED-PAYLOAD", "service", "us-east-1", time.Unix(1700000000, 0)); err != nil {
		panic(err)
	}
	return r.Header.Get("Authorization")
}

func main() {
	one := v4.NewSigner()
	first, second := sign(one, "one"), sign(one, "two")
	fmt.Println("same signature:", first == second)
	fmt.Println("right signature:", second == sign(v4.NewSigner(), "two"))
}
END
go mod init probe >/dev/null 2>&1
go get github.com/aws/aws-sdk-go-v2/aws/signer/v4@v1.48.0 >/dev/null 2>&1
go run . | tee out
[ "$(cat out)" = $'same signature: true\nright signature: false' ] || { echo "changed"; exit 1; }
echo "as stated: a new secret of a known id is not used"
