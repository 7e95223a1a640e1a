/* SPDX-License-Identifier: BSD-2-Clause */
/* HIP's functions take the arguments of CUDA's: a program for both. */
#ifndef PKBPF_TESTS_GPU_HIP_NAMES_H
#define PKBPF_TESTS_GPU_HIP_NAMES_H

#define cudaLaunchKernel	hipLaunchKernel
#define cudaMalloc		hipMalloc
#define cudaFree		hipFree
#define cudaMemcpy		hipMemcpy
#define cudaMemcpyAsync		hipMemcpyAsync
#define cudaDeviceSynchronize	hipDeviceSynchronize
#define cudaStreamSynchronize	hipStreamSynchronize_spt
#define cudaGraphLaunch		hipGraphLaunch
#define cudaMallocFromPoolAsync hipMallocFromPoolAsync
#define cudaDeviceReset		hipDeviceReset
#define cudaMemcpyPeerAsync	hipMemcpyPeerAsync
#define cudaMemcpy3DAsync	hipMemcpy3DAsync
#define __cudaRegisterFunction	__hipRegisterFunction

#endif
