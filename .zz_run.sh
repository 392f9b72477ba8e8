t() { timeout 100 build/tests/$1 --file /tests/$2 -w NoAssertions > .zz_$1_$(basename $2 .cpp).log 2>&1; echo "$1 $2 rc $? $(tail -2 .zz_$1_$(basename $2 .cpp).log | tr '\n' ' ')"; }
for f in op_table op_values shapes accuracy attention masked_ops dropout; do s=$(date +%s.%N); t tests32 engine/ops/test_$f.cpp; echo "   $(echo "$(date +%s.%N)-$s" | bc) s"; done
t tests32 engine/test_array.cpp; t tests32 engine/test_autograd_threads.cpp
cmake --build build --target tests_dual 2>&1 | grep -vE "^\[[0-9]+/[0-9]+\]" | head -60
for f in op_table op_values shapes accuracy attention masked_ops dropout; do s=$(date +%s.%N); t tests_dual engine/ops/test_$f.cpp;  echo "   $(echo "$(date +%s.%N)-$s" | bc) s"; done
for f in nn/layers/test_layer_gradients nn/gpt/test_language_model_gradients; do s=$(date +%s.%N); t tests_dual $f.cpp;  echo "   $(echo "$(date +%s.%N)-$s" | bc) s"; done
