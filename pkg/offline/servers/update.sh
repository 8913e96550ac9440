#!/bin/sh
# Writes this module's go.mod and go.sum for one Kubernetes and one etcd release:
#
#	./update.sh v1.36.3 v3.6.14
#
# k8s.io/kubernetes requires its staging modules at v0.0.0 and replaces them by
# folders of its own repository. A replace of a dependency does not count here,
# so each staging module is replaced by the release that was published with it.
set -eu

kubernetes=$1
etcd=$2
staging="v0.${kubernetes#v1.}"

cd "$(dirname "$0")"
cat >go.mod <<MOD
// Builds kube-apiserver and etcd for machines that cannot download them. Written by update.sh.
module github.com/allocatable-diff/allocatable-diff/pkg/offline/servers

go 1.26.0

tool (
	go.etcd.io/etcd/server/v3
	k8s.io/kubernetes/cmd/kube-apiserver
)

require (
	go.etcd.io/etcd/server/v3 $etcd
	k8s.io/kubernetes $kubernetes
)

MOD

upstream=$(go mod download -json "k8s.io/kubernetes@$kubernetes" | sed -n 's/^[[:space:]]*"GoMod": "\(.*\)",*$/\1/p')
{
	echo 'replace ('
	sed -n "s|^[[:space:]]*\(k8s.io/[a-z-]*\) => \./staging/.*|\t\1 => \1 $staging|p" "$upstream"
	echo ')'
} >>go.mod

go mod tidy
