package build

import "os"

// Packages are initialised in the order of their import paths, each as soon as those that it imports are: this one long
// before those of k8s.io, whose types and metrics take most of the start. So the plain command is answered here. Flags,
// and an output that cannot be written to, are left to the command itself.
func init() {
	if len(os.Args) == 2 && os.Args[1] == "version" && Read().Print(os.Stdout) == nil {
		os.Exit(0)
	}
}
