package snapshot

import (
	"errors"
	"fmt"
	"io"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// ExplainJSON says in the words of JSON, not of Go, what is wrong with a file and where in it: err is what decoding
// failed with. Other errors come back as they are.
func ExplainJSON(err error) error {
	var wrong *json.SemanticError
	if errors.As(err, &wrong) {
		return explainValue(wrong)
	}
	if errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, io.EOF) {
		return fmt.Errorf("the file ends in the middle: was it copied whole? (%w)", err)
	}
	return err
}

func explainValue(wrong *json.SemanticError) error {
	at := ""
	if wrong.JSONPointer != "" {
		at = " at " + string(wrong.JSONPointer)
	}
	switch {
	case errors.Is(wrong.Err, json.ErrUnknownName):
		return fmt.Errorf("unknown field%s: it is misspelt, or the file was written by a newer version", at)
	case wrong.Err != nil:
		return fmt.Errorf("wrong value%s: %w", at, wrong.Err)
	}
	return fmt.Errorf("wrong value%s: %s cannot stand there", at, KindName(wrong.JSONKind))
}

// KindName is a kind of JSON value in words.
func KindName(k jsontext.Kind) string {
	switch k {
	case 'n':
		return "null"
	case 't', 'f':
		return "true or false"
	case '"':
		return "a string"
	case '0':
		return "a number"
	case '{', '}':
		return "an object"
	case '[', ']':
		return "a list"
	}
	return "this value"
}
