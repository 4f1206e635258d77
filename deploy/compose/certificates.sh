#!/bin/sh
# Certificates for the server, Envoy and one caller: `certificates.sh FOLDER` writes tls.crt, tls.key and ca.crt to
# FOLDER/server, FOLDER/envoy and FOLDER/caller. What is there and valid for another month stays. The authority's key is
# not kept.
set -eu
folder=$1
days=365
spare_seconds=2592000

if openssl x509 -checkend "$spare_seconds" -noout -in "$folder/caller/tls.crt" > /dev/null 2>&1; then
  exit 0
fi

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

quietly() { # prints what openssl says only when it fails
  openssl "$@" 2> "$scratch/said" || { cat "$scratch/said" >&2; exit 1; }
}

new_key() { quietly req -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes "$@"; }

issue() { # NAME ALTERNATIVE_NAMES
  mkdir -p "$folder/$1"
  {
    echo 'basicConstraints=critical,CA:FALSE'
    echo 'extendedKeyUsage=serverAuth,clientAuth'
    echo "subjectAltName=$2"
  } > "$scratch/extensions"
  new_key -subj "/CN=$1" -keyout "$scratch/tls.key" -out "$scratch/request"
  quietly x509 -req -in "$scratch/request" -CA "$scratch/ca.crt" -CAkey "$scratch/ca.key" -CAcreateserial \
    -days "$days" -extfile "$scratch/extensions" -out "$scratch/tls.crt"
  # Readable for all: each folder is a volume of its own, mounted by one service under a user of its own.
  install -m 0444 "$scratch/ca.crt" "$scratch/tls.key" "$scratch/tls.crt" "$folder/$1"
}

new_key -x509 -days "$days" -subj /CN=groundwire-compose -keyout "$scratch/ca.key" -out "$scratch/ca.crt"
namespace=spiffe://cluster.local/ns/groundwire/sa
issue server "DNS:groundwire.groundwire.svc,URI:$namespace/groundwire"
issue envoy "DNS:groundwire-envoy.groundwire.svc,DNS:localhost,URI:$namespace/groundwire-envoy"
issue caller "URI:$namespace/caller"
