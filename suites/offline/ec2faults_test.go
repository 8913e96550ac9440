package offline

import (
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/allocatable-diff/allocatable-diff/pkg/offline"
)

const (
	account = "123456789012"
	role    = "prod-ci-runner"
)

// ec2Check judges the files of a cluster with the facts of the EC2 at endpoint, so that nothing but EC2 can fail.
func ec2Check(endpoint string, args ...string) command {
	return check(small, append(args, "--from", fixture(small), "--instance-types", "ec2", "--endpoint-url", endpoint)...)
}

// forEver meets every request with the fault.
func forEver(f offline.Fault) func(*offline.EC2) {
	return func(fake *offline.EC2) { fake.InjectWhen(func(offline.Request) offline.Fault { return f }) }
}

// times meets the next n requests with the fault.
func times(n int, f offline.Fault) func(*offline.EC2) {
	return func(fake *offline.EC2) { fake.Inject(slices.Repeat([]offline.Fault{f}, n)...) }
}

var _ = Describe("EC2", needsNoWorld, func() {
	DescribeTable("that fails for ever ends the run with 3, says what to do, and loses nothing", func(f offline.Fault, calls int, says ...string) {
		fake, endpoint := serveEC2(recordedTypes()...)
		forEver(f)(fake)
		c := ec2Check(endpoint)
		c.env = append(c.env, "AWS_MAX_ATTEMPTS=2") // the SDK's own: by default there are five, with longer pauses
		r := loses(c)
		Expect(r).To(exitWith(3))
		Expect(r).To(say(says...))
		Expect(fake.Calls("DescribeInstanceTypes")).To(Equal(calls), "only what may pass is asked again")
	},
		Entry("throttling", waits, offline.RequestLimitExceeded(), 2, "EC2 kept throttling", "--instance-types labels"),
		Entry("session credentials that ran out", offline.ExpiredToken(), 1, "the AWS credentials have expired: log in again"),
		Entry("the same in EC2's own words", offline.RequestExpired(), 1, "the AWS credentials have expired"),
		Entry("credentials that it does not know", offline.AuthFailure(), 1, "does not accept these credentials", "--profile"),
		Entry("500s", offline.InternalError(), 2, "InternalError"),
		Entry("connections that are reset", offline.ConnectionReset(), 2, "connection reset"),
		Entry("answers that are cut off", offline.CutOff(), 1, "unexpected EOF"),
		Entry("XML that is none", offline.MalformedXML(), 1, "EC2"),
	)

	It("that refuses the action says which permission is missing, and no output holds account, ARN or blob", func() {
		fake, endpoint := serveEC2(recordedTypes()...)
		forEver(offline.UnauthorizedOperation(account, role))(fake)
		for _, r := range together(
			ec2Check(endpoint), ec2Check(endpoint, "--output", "markdown=s.md", "--output", "html=r.html"),
			command{args: []string{"--cluster-name", small, "--from", fixture(small), "--instance-types", "ec2", "--endpoint-url", endpoint}, env: credentials},
			command{args: []string{"snapshot", "--cluster-name", small, "--from", fixture(small), "--instance-types", "ec2", "--endpoint-url", endpoint, "-o", "s.json"}, env: credentials},
			command{args: []string{"expect", "m5.large", "--instance-types", "ec2", "--endpoint-url", endpoint}, env: credentials},
		) {
			Expect(r).To(exitWith(3))
			Expect(r).To(say("may not call ec2:DescribeInstanceTypes", "allocatable-diff manifests"))
			Expect(entries(r.dir)).To(BeEmpty())
			for _, secret := range []string{account, role, "arn:", "Zk3vQx"} {
				Expect(r.stdout + r.stderr).NotTo(ContainSubstring(secret))
			}
		}
	})

	DescribeTable("that fails for a moment gives what a healthy one gives", func(inject func(*offline.EC2), calls int) {
		fake, endpoint := serveEC2(recordedTypes()...)
		inject(fake)
		r := ec2Check(endpoint).run()
		Expect(r.code).To(Equal(sound().code), r.GomegaString)
		Expect(files(r)).To(Equal(files(sound())))
		Expect(fake.Calls("DescribeInstanceTypes")).To(Equal(calls))
	},
		Entry("throttling three times", waits, times(3, offline.RequestLimitExceeded()), 4),
		Entry("a 500", times(1, offline.InternalError()), 2),
		Entry("a connection reset", times(1, offline.ConnectionReset()), 2),
		Entry("an empty first page, with the token of the next", times(1, offline.EmptyFirstPage()), 2),
	)

	It("that no longer knows a type leaves its nodes unknown, and the rest is judged", func() {
		retired := nodesOf(small)[0].instanceType()
		fake, endpoint := serveEC2(recordedTypes()...)
		// As EC2 does, it refuses the whole call that names such a type.
		fake.InjectWhen(func(r offline.Request) offline.Fault {
			for name, values := range r.Parameters {
				if strings.HasPrefix(name, "InstanceType.") && slices.Contains(values, retired) {
					return offline.InvalidInstanceType(retired)
				}
			}
			return nil
		})
		r := ec2Check(endpoint).run()
		Expect(r.code).To(BeElementOf(1, 4), r.GomegaString)
		Expect(r).To(say(`instance type "` + retired + `" is not known`))
		mine := files(r)["nodes.csv"]
		for _, row := range strings.SplitAfter(files(sound())["nodes.csv"], "\n") {
			if !strings.Contains(row, ","+retired+",") {
				Expect(mine).To(ContainSubstring(row))
			}
		}
		Expect(mine).To(MatchRegexp(`,` + retired + `,.*,unknown,`))
	})

	Context("without the means to ask it, fails in under 5 seconds with the remedy", inPeace, func() {
		ask := func(env ...string) result {
			GinkgoHelper()
			began := time.Now()
			r := loses(withoutMeans(env...))
			Expect(time.Since(began)).To(BeNumerically("<", 5*time.Second))
			Expect(r).To(exitWith(3))
			return r
		}
		It("has no region, and the metadata service is silent", func() {
			Expect(ask("AWS_EC2_METADATA_SERVICE_ENDPOINT=" + silent())).To(say("no AWS region: set --region or AWS_REGION, or use --instance-types labels"))
		})
		It("has no credentials, and the metadata service is silent", func() {
			r, took := unanswered.end()
			Expect(took).To(BeNumerically("<", 5*time.Second))
			r.lostNothing()
			Expect(r).To(exitWith(3))
			Expect(r).To(say("no AWS credentials: set --profile or AWS_PROFILE", "--instance-types labels"))
		})
		It("has no credentials, and the metadata service is switched off", func() {
			Expect(ask("AWS_REGION=us-west-2", "AWS_EC2_METADATA_DISABLED=true")).To(say("no AWS credentials"))
		})
		It("has a profile that does not exist", func() {
			c := ec2Check("http://127.0.0.1:1", "--profile", "nobody")
			c.env = nil
			r := loses(c)
			Expect(r).To(exitWith(3))
			Expect(r).To(say("nobody"))
		})
	})

	It("that does not answer is left within a second of Ctrl-C, and no file is half-written", inPeace, func() {
		fake, endpoint := serveEC2(recordedTypes()...)
		forEver(offline.Slow(time.Hour))(fake)
		c := ec2Check(endpoint)
		session := c.start()
		Eventually(func() int { return fake.Calls("DescribeInstanceTypes") }, patience, 10*time.Millisecond).Should(Equal(1))
		began := time.Now()
		session.Interrupt().Wait(patience)
		Expect(time.Since(began)).To(BeNumerically("<", time.Second))
		r := c.resultOf(session)
		Expect(r).To(exitWith(3))
		Expect(entries(r.dir)).To(BeEmpty())
	})
})

// sound is the result of an EC2 without a fault.
func sound() result {
	GinkgoHelper()
	return once("a sound EC2", func() command {
		_, endpoint := serveEC2(recordedTypes()...)
		return ec2Check(endpoint)
	})
}

// withoutMeans is a check with nothing but an environment to find a region and credentials by.
func withoutMeans(env ...string) command {
	c := ec2Check("http://127.0.0.1:1")
	c.env = append([]string{"AWS_EC2_METADATA_DISABLED=false"}, env...)
	return c
}

// silent takes connections and never says a word, as the metadata address of a pod behind a hop limit.
func silent() string {
	return serve(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }))
}

// unanswered waits for a metadata service without a word: longer than anything else, so it begins with the suite.
var unanswered *begun

func beginUnanswered() {
	GinkgoHelper()
	c := withoutMeans("AWS_REGION=us-west-2", "AWS_EC2_METADATA_SERVICE_ENDPOINT="+silent())
	c.dir = yesterday()
	unanswered = c.begin()
}

// instanceType is the type of the node by its label.
func (n nodeObject) instanceType() string {
	labels := n["metadata"].(map[string]any)["labels"].(map[string]any)
	return labels["node.kubernetes.io/instance-type"].(string)
}

var _ = Describe("What was read live", needsNoWorld, func() {
	DescribeTable("and cannot be written is exit 3, and names the path", func(output string, says ...string) {
		_, endpoint := serveEC2(recordedTypes()...)
		dir := GinkgoT().TempDir()
		write(dir, "file", "")
		c := command{args: []string{"check", "--cluster-name", small, "--from", fixture(small), "--instance-types", "ec2", "--endpoint-url", endpoint, "--output", output}, env: credentials, dir: dir}
		r := c.run()
		Expect(r).To(exitWith(3))
		Expect(r).To(say(says...))
		Expect(entries(dir)).To(ConsistOf("file"))
	},
		Entry("the disk is full", "csv=/dev/full", "/dev/full", "no space left"),
		Entry("below a file", "json=file/run.json", filepath.Join("file", "run.json")),
		Entry("in a folder that does not exist", "junit=nowhere/junit.xml", "nowhere"),
	)

	It("leaves a snapshot that could not be written as it was", func() {
		_, endpoint := serveEC2(recordedTypes()...)
		r := command{args: []string{"snapshot", "--cluster-name", small, "--from", fixture(small), "--instance-types", "ec2", "--endpoint-url", endpoint, "-o", "/dev/full"}, env: credentials}.run()
		Expect(r).To(exitWith(3))
		Expect(r).To(say("/dev/full", "no space left"))
	})
})
