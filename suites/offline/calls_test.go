package offline

import (
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
)

// EC2 takes 100 types in a call: a cluster of fewer costs one, however many nodes it has.
var _ = DescribeTable("The calls to EC2 of a cluster", needsNoWorld, func(types, calls int) {
	document, nodes := manyTypes(types)
	fake, endpoint := serveEC2(document)
	from := write(GinkgoT().TempDir(), "nodes.json", nodes)
	r := check("many", "--from", from, "--instance-types", "ec2", "--endpoint-url", endpoint, "--no-cache").run()
	Expect(r.code).To(BeNumerically("<=", 1), r.GomegaString)
	Expect(fake.Calls("DescribeInstanceTypes")).To(Equal(calls))
	Expect(strings.Count(files(r)["allocatable-diff.csv"], "\n")).To(Equal(2 + types))
},
	Entry("of one type", 1, 1),
	Entry("of 60 types", 60, 1),
	Entry("of as many as EC2 takes", 100, 1),
	Entry("of one more", 101, 2),
)
