package offline

import (
	"bytes"
	"cmp"
	"compress/gzip"
	"encoding/json"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"regexp"
	"slices"
	"strings"
)

// instanceType is one element of the catalogue: the description as the AWS CLI prints it, and on the wire.
type instanceType struct {
	name  string
	facts map[string]any // as decoded from JSON, numbers as json.Number
	xml   string         // <item>…</item>
}

// wireNames lists the members of InstanceTypeInfo whose element on the wire is not the member's name with a
// small first letter. From the EC2 service model (ec2/2016-11-15 in botocore 1.43 and aws-sdk-go-v2 service/ec2
// v1.347), checked member by member by TestEveryMemberSurvivesTheWire.
var wireNames = map[string]string{
	"InstanceTypes":  "instanceTypeSet",
	"EbsCards":       "ebsCardSet",
	"InterfaceTypes": "interfaceTypeSet",
	"Workloads":      "workloadSet",
}

// elementNames lists the lists, by their path, whose elements are not called "item". The service model gives the
// inference accelerators none, and the query protocol's default is "member". Media accelerators, a list
// of the same name, are items.
var elementNames = map[string]string{
	"InferenceAcceleratorInfo.Accelerators": "member",
}

// readInstanceTypes reads an output of `aws ec2 describe-instance-types --output json`, gzipped or not.
func readInstanceTypes(document []byte) ([]instanceType, error) {
	plain, err := gunzip(document)
	if err != nil {
		return nil, err
	}
	var output struct {
		InstanceTypes []map[string]any
	}
	decoder := json.NewDecoder(bytes.NewReader(plain))
	decoder.UseNumber() // 0.125 and 437.5 go out as they came in
	if err := decoder.Decode(&output); err != nil {
		return nil, err
	}
	if output.InstanceTypes == nil {
		return nil, errors.New("no InstanceTypes: expected the output of aws ec2 describe-instance-types --output json")
	}
	types := make([]instanceType, 0, len(output.InstanceTypes))
	for i, facts := range output.InstanceTypes {
		name, ok := facts["InstanceType"].(string)
		if !ok || name == "" {
			return nil, fmt.Errorf("element %d of InstanceTypes has no InstanceType", i+1)
		}
		var item strings.Builder
		if err := writeMember(&item, "item", "", facts); err != nil {
			return nil, fmt.Errorf("instance type %q: %w", name, err)
		}
		types = append(types, instanceType{name: name, facts: facts, xml: item.String()})
	}
	return types, nil
}

func gunzip(document []byte) ([]byte, error) {
	if !bytes.HasPrefix(document, []byte{0x1f, 0x8b}) {
		return document, nil
	}
	reader, err := gzip.NewReader(bytes.NewReader(document))
	if err != nil {
		return nil, fmt.Errorf("gunzipping: %w", err)
	}
	plain, err := io.ReadAll(reader)
	if err != nil {
		return nil, fmt.Errorf("gunzipping: %w", err)
	}
	return plain, nil
}

// memberName is what a member of a description may be called: anything else would not be an XML element.
var memberName = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9]*$`)

// writeMember writes one member of a description as an element. path is the member's own, dots between names;
// null is a member that is not there.
func writeMember(out *strings.Builder, element, path string, value any) error {
	if value == nil {
		return nil
	}
	out.WriteString("<" + element + ">")
	switch value := value.(type) {
	case map[string]any:
		for _, name := range slices.Sorted(maps.Keys(value)) {
			if !memberName.MatchString(name) {
				return fmt.Errorf("%q is not a member of an EC2 answer", strings.TrimPrefix(path+"."+name, "."))
			}
			if err := writeMember(out, wireName(name), strings.TrimPrefix(path+"."+name, "."), value[name]); err != nil {
				return err
			}
		}
	case []any:
		item := cmp.Or(elementNames[path], "item")
		for _, v := range value {
			if err := writeMember(out, item, path, v); err != nil {
				return err
			}
		}
	default: // string, json.Number or bool: what is left of JSON
		out.WriteString(escape(fmt.Sprint(value)))
	}
	out.WriteString("</" + element + ">")
	return nil
}

// wireName gives the element of a member: VCpuInfo is vCpuInfo, EbsCards is ebsCardSet.
func wireName(member string) string {
	if name, ok := wireNames[member]; ok {
		return name
	}
	return strings.ToLower(member[:1]) + member[1:]
}

func escape(text string) string {
	var out strings.Builder
	_ = xml.EscapeText(&out, []byte(text)) // a strings.Builder never fails
	return out.String()
}

// writeInstanceTypes writes the answer to DescribeInstanceTypes; next is the token of the next page or empty.
func writeInstanceTypes(w http.ResponseWriter, id string, page []instanceType, next string) {
	var body strings.Builder
	body.WriteString(xml.Header + `<DescribeInstanceTypesResponse xmlns="http://ec2.amazonaws.com/doc/` + ec2Version + `/">` + "\n")
	body.WriteString("<requestId>" + id + "</requestId>\n<" + wireNames["InstanceTypes"] + ">\n")
	for _, t := range page {
		body.WriteString(t.xml + "\n")
	}
	body.WriteString("</" + wireNames["InstanceTypes"] + ">\n")
	if next != "" {
		body.WriteString("<nextToken>" + escape(next) + "</nextToken>\n")
	}
	body.WriteString("</DescribeInstanceTypesResponse>\n")
	writeXML(w, http.StatusOK, body.String())
}

func writeXML(w http.ResponseWriter, status int, body string) {
	w.Header().Set("Content-Type", "text/xml;charset=UTF-8")
	w.Header().Set("Content-Length", fmt.Sprint(len(body)))
	w.WriteHeader(status)
	_, _ = io.WriteString(w, body) // a caller that hung up is its own problem
}
