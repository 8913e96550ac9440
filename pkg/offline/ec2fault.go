package offline

import (
	"bytes"
	"encoding/xml"
	"fmt"
	"net"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// Fault replaces the answer to one request: it gets the handler that would answer well and returns the one that
// does answer. The functions below return the faults that EC2 and the network between are known for; a test
// may write its own. The zero Fault, nil, is a healthy answer.
type Fault func(answer http.Handler) http.Handler

// Inject lets each of the next requests, whatever their action, meet one fault, in order; nil lets one through.
// Three throttled calls, then good ones:
//
//	fake.Inject(slices.Repeat([]offline.Fault{offline.RequestLimitExceeded()}, 3)...)
func (e *EC2) Inject(faults ...Fault) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.script = append(e.script, faults...)
}

// InjectWhen asks choose for the fault of every request that no injected fault is left for. It replaces the
// function before it; nil heals. It runs under a lock: choose must not call the fake.
// Throttled for ever:
//
//	fake.InjectWhen(func(offline.Request) offline.Fault { return offline.RequestLimitExceeded() })
func (e *EC2) InjectWhen(choose func(Request) Fault) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.when = choose
}

// Error answers with an EC2 error of this HTTP status, code and message.
func Error(status int, code, message string) Fault {
	return func(http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			refuse(status, code, message).write(w)
		})
	}
}

// RequestLimitExceeded is EC2's throttling. SDKs try again after a while.
func RequestLimitExceeded() Fault {
	return Error(http.StatusServiceUnavailable, "RequestLimitExceeded", "Request limit exceeded.")
}

// UnauthorizedOperation is what an identity without ec2:DescribeInstanceTypes meets. Like EC2's, the message
// carries what must not leak into a report: the account, the caller's ARN and an encoded blob that describes
// the request.
func UnauthorizedOperation(account, role string) Fault {
	caller := fmt.Sprintf("arn:aws:sts::%s:assumed-role/%s/allocatable-diff", account, role)
	blob := strings.Repeat("Zk3vQx-9LmT_b7", 12)
	return Error(http.StatusForbidden, "UnauthorizedOperation", fmt.Sprintf("You are not authorized to perform this operation. "+
		"User: %s is not authorized to perform: ec2:DescribeInstanceTypes because no identity-based policy allows the ec2:DescribeInstanceTypes action. "+
		"Encoded authorization failure message: %s", caller, blob))
}

// ExpiredToken is the answer to session credentials that have run out.
func ExpiredToken() Fault {
	return Error(http.StatusBadRequest, "ExpiredToken", "The security token included in the request is expired")
}

// RequestExpired is how EC2 itself words ExpiredToken, and what a caller whose clock is wrong gets.
func RequestExpired() Fault {
	return Error(http.StatusBadRequest, "RequestExpired", "Request has expired.")
}

// AuthFailure is the answer to credentials that EC2 does not know.
func AuthFailure() Fault {
	return Error(http.StatusUnauthorized, "AuthFailure", "AWS was not able to validate the provided access credentials")
}

// InvalidInstanceType says that EC2 does not know these types, as of retired ones. The fake says so unasked of
// every type that it has no description of.
func InvalidInstanceType(names ...string) Fault {
	return func(http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			errUnknownTypes(names).write(w)
		})
	}
}

// InternalError is EC2's own failure, HTTP 500.
func InternalError() Fault {
	return Error(http.StatusInternalServerError, "InternalError", "An internal error has occurred")
}

// EmptyFirstPage answers a first page without a single type and with the token of the page that has them, as
// EC2 may when filters are set. Later pages are answered as always.
func EmptyFirstPage() Fault {
	return func(answer http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			call, failure := parseDescribe(actionParameters(r))
			if failure != nil || r.Form.Get("NextToken") != "" {
				answer.ServeHTTP(w, r)
				return
			}
			writeInstanceTypes(w, requestID(0), nil, pageToken(0, call.query))
		})
	}
}

// CutOff announces the whole healthy answer and closes the connection after half of it.
func CutOff() Fault {
	return func(answer http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			whole := capture(answer, r)
			w.Header().Set("Content-Type", whole.header.Get("Content-Type"))
			w.Header().Set("Content-Length", strconv.Itoa(whole.body.Len()))
			w.WriteHeader(whole.status)
			_, _ = w.Write(whole.body.Bytes()[:whole.body.Len()/2])
			if flusher, ok := w.(http.Flusher); ok {
				flusher.Flush()
			}
			panic(http.ErrAbortHandler) // net/http's way to drop the connection
		})
	}
}

// MalformedXML answers with status 200 and the healthy answer, one of its tags broken.
func MalformedXML() Fault {
	return func(answer http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			whole := capture(answer, r)
			writeXML(w, http.StatusOK, strings.Replace(whole.body.String(), "</", "</broken:<", 1))
		})
	}
}

// ConnectionReset drops the connection without an answer, by a TCP reset where the connection is TCP.
func ConnectionReset() Fault {
	return func(http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			hijacker, ok := w.(http.Hijacker)
			if !ok {
				panic(http.ErrAbortHandler)
			}
			connection, _, err := hijacker.Hijack()
			if err != nil {
				panic(http.ErrAbortHandler)
			}
			if tcp, ok := connection.(*net.TCPConn); ok {
				_ = tcp.SetLinger(0) // no linger: close sends RST, not FIN
			}
			_ = connection.Close()
		})
	}
}

// Slow answers well after a while, or not at all when the caller hangs up before.
func Slow(wait time.Duration) Fault {
	return func(answer http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			timer := time.NewTimer(wait)
			defer timer.Stop()
			select {
			case <-timer.C:
				answer.ServeHTTP(w, r)
			case <-r.Context().Done():
			}
		})
	}
}

// apiError is an error answer of EC2.
type apiError struct {
	status        int
	code, message string
	requestID     string
}

func refuse(status int, code, message string) *apiError {
	return &apiError{status: status, code: code, message: message, requestID: requestID(0)}
}

func (e *apiError) write(w http.ResponseWriter) {
	writeXML(w, e.status, xml.Header+"<Response><Errors><Error><Code>"+escape(e.code)+"</Code><Message>"+escape(e.message)+
		"</Message></Error></Errors><RequestID>"+e.requestID+"</RequestID></Response>\n")
}

// captured is a response kept in memory.
type captured struct {
	header http.Header
	status int
	body   bytes.Buffer
}

func capture(answer http.Handler, r *http.Request) *captured {
	c := &captured{header: http.Header{}, status: http.StatusOK}
	answer.ServeHTTP(c, r)
	return c
}

func (c *captured) Header() http.Header         { return c.header }
func (c *captured) WriteHeader(status int)      { c.status = status }
func (c *captured) Write(p []byte) (int, error) { return c.body.Write(p) }
