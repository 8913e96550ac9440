package gate_test
import ("testing";"os";"fmt";"strings"
"github.com/allocatable-diff/allocatable-diff/pkg/collect"
"github.com/allocatable-diff/allocatable-diff/pkg/gate"
"github.com/allocatable-diff/allocatable-diff/pkg/report")
func TestZZ(t *testing.T){
 for _,c:=range []string{"karpenter-drift","karpenter-demo","v1-reserved-enis","v1beta1","v1alpha5"}{
 in,err:=collect.Files([]string{"../../fixtures/clusters/"+c},nil,collect.Options{Cluster:c,InstanceTypes:"../../fixtures/ec2"})
 if err!=nil{t.Fatal(err)}
 run,err:=gate.Evaluate(in.Snapshots,gate.Options{Policy:gate.DefaultPolicy()})
 if err!=nil{t.Fatal(err)}
 fmt.Println("#####",c,run.Result,run.Totals)
 for _,f:=range run.Findings{fmt.Printf("%s %-28s %s %s %s %s %d/%d exp %d act %d d %d | %s | %s\n",f.Severity,f.ID,f.InstanceType,f.NodeClass,f.Resource,f.Field,f.Nodes,f.Of,f.Expected,f.Actual,f.Delta,f.Evidence,strings.Join(f.Names,","))}
 if os.Getenv("X")!=""{ for i,n:=range run.Nodes{ if i>14{break}; x,err:=gate.Explain(in.Snapshots,gate.Options{Policy:gate.DefaultPolicy()},n.Name); if err!=nil{t.Fatal(err)}; report.Explain(os.Stdout,x); fmt.Println("--------")}}
 un:=0
 for _,n:=range run.Nodes{for _,r:=range n.Rows{for _,cc:=range r.Causes{if cc.ID=="unexplained"{un++; fmt.Println("  UNEXPLAINED",n.Name,n.InstanceType,n.AMIFamily,r.Resource,r.Field,r.Status,r.Expected.Value,r.Actual.Value,cc.Part)}}}}
 }
}
