#!/bin/sh
# Runs make demo and this suite where there is no network but loopback, so that what passes has called nobody:
#
#	suites/offline/without-network.sh [ginkgo's flags]
#
# The modules and the servers (make envtest) must be there already. Exit code 77: this machine does not let anyone take
# the network away.
set -eu
cd "$(dirname "$0")/../.."

if ! unshare -rn ip link set lo up; then
	echo "without-network: unshare -rn is not permitted here: run it where user namespaces are, or as root" >&2
	exit 77
fi
KUBEBUILDER_ASSETS=$(pkg/offline/servers/envtest.sh)
export KUBEBUILDER_ASSETS GOPROXY=off GOTOOLCHAIN=local
reports=$(mktemp -d)
trap 'rm -rf "$reports"' EXIT
unshare -rn sh -euc '
	ip link set lo up
	reports=$1
	shift
	make --no-print-directory demo REPORTS="$reports"
	go tool ginkgo run --keep-going --label-filter="!no-network" "$@" ./suites/offline
' sh "$reports" "$@"
