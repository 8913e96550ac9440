#!/bin/sh
# Finds kube-apiserver and etcd for envtest, or makes them, and prints the directory they are in:
#
#	KUBEBUILDER_ASSETS="$(pkg/offline/servers/envtest.sh)"
#	KUBEBUILDER_ASSETS="$(pkg/offline/servers/envtest.sh 1.36.x)"
#
# The optional argument is a version selector of setup-envtest; without it any release will do. In this order,
# each step only when the one before it failed: $KUBEBUILDER_ASSETS, what setup-envtest has in its store, what
# it can download, and a build from the Go modules of this directory, which is put into the same store.
# What it does and why a step failed goes to standard error, nothing but the directory to standard output.
set -eu

here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../../.." && pwd)
version=${1:-}

say() { echo "envtest: $*" >&2; }

# complete DIRECTORY: both servers are there and can be run.
complete() {
	for server in kube-apiserver etcd; do
		if ! [ -x "$1/$server" ]; then
			say "no, ${1:-.}/$server is missing or not executable"
			return 1
		fi
	done
}

# found DIRECTORY: ends the script when the directory is complete.
found() {
	if complete "$1"; then
		say "using $1"
		echo "$1"
		exit 0
	fi
}

setup_envtest() { go -C "$root" tool setup-envtest "$@"; }

# The store can hold a directory whose unpacking was cut off; setup-envtest takes it for installed.
ask_setup_envtest() {
	if directory=$(setup_envtest "$@" ${version:+"$version"}); then
		found "$directory"
	else
		say "no, setup-envtest $* ended with exit code $?"
	fi
}

build() {
	for module in go.etcd.io/etcd/server/v3 k8s.io/kubernetes; do
		go -C "$here" list -m "$module" >&2 || return 1
	done
	kubernetes=$(go -C "$here" list -m -f '{{.Version}}' k8s.io/kubernetes)
	minor=${kubernetes#v1.}
	info=k8s.io/component-base/version
	work=$(mktemp -d)
	trap 'rm -rf "$work"' EXIT
	say "building etcd, about 2 minutes on two idle cores"
	CGO_ENABLED=0 nice -n 15 go -C "$here" build -p 1 -trimpath -ldflags '-s -w' -o "$work/etcd" go.etcd.io/etcd/server/v3 >&2 || return 1
	say "building kube-apiserver $kubernetes, about 6 minutes on two idle cores"
	# The version is what the server reports, and what it derives the APIs that it serves from.
	CGO_ENABLED=0 nice -n 15 go -C "$here" build -p 1 -trimpath \
		-ldflags "-s -w -X $info.gitVersion=$kubernetes -X $info.gitMajor=1 -X $info.gitMinor=${minor%%.*} -X $info.gitTreeState=archive" \
		-o "$work/kube-apiserver" k8s.io/kubernetes/cmd/kube-apiserver >&2 || return 1
	say "putting both into setup-envtest's store as ${kubernetes#v}"
	tar -C "$work" -czf "$work/servers.tar.gz" etcd kube-apiserver || return 1
	setup_envtest sideload "${kubernetes#v}" <"$work/servers.tar.gz" >&2
}

if [ -n "${KUBEBUILDER_ASSETS:-}" ]; then
	say "KUBEBUILDER_ASSETS is set: looking into $KUBEBUILDER_ASSETS"
	found "$KUBEBUILDER_ASSETS"
else
	say "KUBEBUILDER_ASSETS is not set"
fi

say "looking for installed servers: setup-envtest use -i"
ask_setup_envtest use -i -p path

say "downloading servers: setup-envtest use"
ask_setup_envtest use -p path

say "building the servers from their Go modules"
if build; then
	ask_setup_envtest use -i -p path
else
	say "no, the build failed"
fi

say "no kube-apiserver and etcd to be had: set KUBEBUILDER_ASSETS to a directory that has both"
exit 1
