# What takes longest begins first, so that no processor waits at the end for one long test. The cost
# is in seconds; a test without one begins after these. A build has not all of them.
function(fledge_cost seconds)
  foreach(name IN LISTS ARGN)
    if(TEST ${name})
      set_tests_properties(${name} PROPERTIES COST ${seconds})
    endif()
  endforeach()
endfunction()
fledge_cost(50 examples/one_file/birds_in_one_file examples/birds/birds_command)
fledge_cost(20 examples/one_file/microgpt examples/fledge/gradcheck_command
  examples/fledge/interrupts command/vocabulary examples/fledge/hostile_folders
  dual/engine/random_programs f32/nn/train/trainer_interrupted)
fledge_cost(10 lessons/attention/20_capacity lessons/attention/22_held_out_pairs
  lessons/attention/23_break_it faults/sample examples/fledge/bench
  examples/fledge/numbers examples/fledge/terminals f32/nn/train/checkpoint
  f32/nn/io/safetensors_collisions dual/engine/kernels/gemm f32/engine/kernels/gemm
  dual/engine/ops/op_table dual/engine/ops/accuracy)
