# The ns-3 objects of collectives and training jobs, for both doors.
set(WEIR_JOB_SOURCES
  ${CMAKE_CURRENT_LIST_DIR}/collective-helper.cc
  ${CMAKE_CURRENT_LIST_DIR}/collective-job.cc
  ${CMAKE_CURRENT_LIST_DIR}/collective-runtime.cc
  ${CMAKE_CURRENT_LIST_DIR}/ns3-loop.cc
  ${CMAKE_CURRENT_LIST_DIR}/training-job-helper.cc
  ${CMAKE_CURRENT_LIST_DIR}/training-job.cc
)
# What programs include as "ns3/NAME.h".
set(WEIR_JOB_HEADERS
  ${CMAKE_CURRENT_LIST_DIR}/collective-helper.h
  ${CMAKE_CURRENT_LIST_DIR}/collective-job.h
  ${CMAKE_CURRENT_LIST_DIR}/collective-runtime.h
  ${CMAKE_CURRENT_LIST_DIR}/training-job-helper.h
  ${CMAKE_CURRENT_LIST_DIR}/training-job.h
)
# Those that need yaml-cpp and HDF5.
set(WEIR_RECORDER_SOURCES
  ${CMAKE_CURRENT_LIST_DIR}/object-reference.cc
  ${CMAKE_CURRENT_LIST_DIR}/results-helper.cc
  ${CMAKE_CURRENT_LIST_DIR}/run-recorder.cc
  ${CMAKE_CURRENT_LIST_DIR}/plan-text.cc
)
set(WEIR_RECORDER_HEADERS
  ${CMAKE_CURRENT_LIST_DIR}/object-reference.h
  ${CMAKE_CURRENT_LIST_DIR}/results-helper.h
  ${CMAKE_CURRENT_LIST_DIR}/run-recorder.h
)
# What stands in for them where there are no readers.
set(WEIR_UNREAD_JOB_SOURCES
  ${CMAKE_CURRENT_LIST_DIR}/plan-text-unread.cc
)
