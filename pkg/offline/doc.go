// Package offline answers one question: what would this tool see if it had a cluster and an AWS account?
//
// It starts a world that real clients cannot tell from theirs: a real kube-apiserver and etcd (envtest) that
// hold the objects of kubectl dumps, and an HTTP server that speaks the EC2 query protocol over the output of
// `aws ec2 describe-instance-types`. kubectl, client-go, the AWS CLI and the AWS SDKs talk to it. Nothing in
// it knows who asks, so what passes here has passed the live path.
//
//	world, err := offline.Start(ctx, offline.Options{
//		Cluster:       os.DirFS("fixtures/clusters/shop"),
//		InstanceTypes: os.DirFS("fixtures/ec2"),
//	})
//	if err != nil { … }
//	defer world.Stop()
//	// kubectl --kubeconfig world.Kubeconfig() get nodes
//	// aws ec2 describe-instance-types --endpoint-url world.EC2URL
//
// The two halves also stand alone: [NewEC2] is an [net/http.Handler] that needs no server binaries, and a
// cluster without instance types is an [Options] without them.
//
// Real services fail, so both halves fail on demand and in the words of the real ones: [EC2.Inject] takes a
// [Fault] per request, and [Environment.AddUser] gives an identity that RBAC can refuse.
//
// The server binaries are not part of this module. `make envtest` finds, downloads or builds them (servers/).
package offline
